"""What kind of system it is: integrability, degrees of freedom, what is conserved."""
