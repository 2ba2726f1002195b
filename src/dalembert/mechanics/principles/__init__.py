"""One file per principle of mechanics. Each derives the motion in its own way, from the model and not from another
principle, so that their agreement is a check on all of them.

Every module offers

    applies(system) -> str              "" where the principle holds for the system, else why not
    derive(system) -> Equations         its equations as a person reads them; more arguments are its options
    prepare(system, sampler) -> Solver  its numbers: (state, C) -> Answer, see `formulation`
    state_size(system) -> int           how many first-order variables its equations of motion have

and is named in `equations.FORMS`. A module with CONTRAST = True is shown beside the motion where `applies` says that it
is not the motion; one with RELATION = True says nothing about the motion. Both can be read (`derive`) all the same.
"""
