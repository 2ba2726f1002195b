/* The same runtime is compiled in two ways. In the kernel of one model, sizes (DA_N, …) are numbers, and what the model
   does not need is not there. Compiled for all models (DA_GENERIC, see kernel/ready), a size is asked of the model at
   run time, and all is there. So three rules hold:

   - what is left out of some kernels stands between #if DA_WITH_… and #endif, and asks by `if` besides;
   - an array in a function has no initialiser, and one of length zero has length one;
   - a structure with arrays of such lengths lists them by a macro, from which its members come, and the functions that
     copy and clear it; a variable of it is declared by DA_LOCAL. Rows of a matrix in it stand behind each other. */
#ifndef DA_LAYOUT_H
#define DA_LAYOUT_H

#ifdef DA_OF_LARGE_SYSTEMS
/* Steps of systems whose state is solved for by loops (see ready/c/large_state.h), with sizes at run time. */
#define DA_WITH_EVENTS 0
#define DA_WITH_KINKS 0
#define DA_WITH_SWITCHED 0
#define DA_WITH_NONLINEAR 0
#define DA_WITH_ACTUAL 0
#define DA_WITH_GIVEN 0
#define DA_WITH_EVENT_MULTIPLIERS 0
#define DA_WITH_PLAIN_EVENTS 0
#define DA_WITH_STRAIGHT_MULTIPLIERS 0
#define DA_WITH_STRAIGHT 0
#define DA_WITH_LARGE 0
#define DA_WITH_WATCHED 1
#define DA_WITH_BY_FRICTION 0
#define DA_WITH_HEATS 0
#define DA_WITH_TAYLOR 0
#define DA_WATCHES_EACH 1 /* component of a step, not their mean alone */
#elif defined DA_GENERIC
#define DA_WITH_EVENTS 1
#define DA_WITH_KINKS 1
#define DA_WITH_SWITCHED 1 /* constraints that parameters switch on and off */
#define DA_WITH_NONLINEAR 1
#define DA_WITH_ACTUAL 1 /* work that depends on the actual force of the constraints … */
#define DA_WITH_GIVEN 1  /* … and work that does not */
#define DA_WITH_EVENT_MULTIPLIERS 1
#define DA_WITH_PLAIN_EVENTS 1
#define DA_WITH_STRAIGHT_MULTIPLIERS 1
#define DA_WITH_STRAIGHT 1
#define DA_WITH_LARGE 1
#define DA_WITH_WATCHED 1
#define DA_WITH_BY_FRICTION 1
#define DA_WITH_HEATS 1
#define DA_WITH_TAYLOR 0 /* series are made for one model */
#else
#define DA_WITH_EVENTS DA_NG
#define DA_WITH_KINKS DA_KINKS
#define DA_WITH_SWITCHED (DA_NG && DA_SWITCHED)
#define DA_WITH_NONLINEAR DA_NONLINEAR
#define DA_WITH_ACTUAL DA_USES_ACTUAL
#define DA_WITH_GIVEN !DA_USES_ACTUAL
#define DA_WITH_EVENT_MULTIPLIERS DA_EVENT_MULTIPLIERS
#define DA_WITH_PLAIN_EVENTS !DA_EVENT_MULTIPLIERS
#define DA_WITH_STRAIGHT_MULTIPLIERS DA_STRAIGHT_MULTIPLIERS
#define DA_WITH_STRAIGHT DA_STRAIGHT
#define DA_WITH_LARGE DA_LARGE
#define DA_WITH_WATCHED DA_WATCHED
#define DA_WITH_BY_FRICTION DA_BY_FRICTION
#define DA_WITH_HEATS DA_HEATS
#define DA_WITH_TAYLOR DA_TAYLOR
#endif

/* Of errors in tolerances: their mean says nothing of the few components that move in a large system; so none may err
   by more than this many, as far as a mean of four components lets one of them go. */
#define DA_WORST 2.0
#ifdef DA_WATCHES_EACH
#define DA_BY_COMPONENT(statement) statement
#else
#define DA_BY_COMPONENT(statement)
#endif

/* An array of length zero is not allowed in C. */
#define DA_AT_LEAST_1(n) ((n) > 0 ? (n) : 1)

/* Numbers that stand behind each other, as rows of so many. */
#define DA_ROWS(x, width) ((double (*)[width])(x))

/* LIST(ARRAY, PART) names the arrays of a structure, ARRAY(type, name, length), and the structures with arrays in it,
   PART(type, name). DA_STRUCTURE(name, LIST) defines name_copy(to, from), DA_CLEARED(name, LIST) name_clear(it). */
#ifdef DA_GENERIC
/* Arrays stand behind each other in one room; under the address sanitizer there is a fence behind each. */
#ifdef __SANITIZE_ADDRESS__
void __asan_poison_memory_region(void const volatile *, size_t);
#define DA_FENCE_SIZE 4
#define DA_FENCE(room) __asan_poison_memory_region(room, sizeof(double) * DA_FENCE_SIZE)
#else
#define DA_FENCE_SIZE 0
#define DA_FENCE(room) (void)(room)
#endif
#define DA_ARRAY_MEMBER(type, name, length) type *name;
#define DA_DOUBLES(type, length) ((sizeof(type) * (size_t)DA_AT_LEAST_1(length) + sizeof(double) - 1) / sizeof(double))
#define DA_ARRAY_ROOM(type, name, length) +DA_DOUBLES(type, length) + DA_FENCE_SIZE
#define DA_PART_ROOM(type, name) +type##_room()
#define DA_ARRAY_PLACE(type, name, length) \
    it->name = (type *)(void *)room;       \
    room += DA_DOUBLES(type, length);      \
    DA_FENCE(room);                        \
    room += DA_FENCE_SIZE;
#define DA_PART_PLACE(type, name) room = type##_place(&it->name, room);
#define DA_ARRAY_COPY(type, name, length) \
    to->name = kept.name;                 \
    memcpy(to->name, from->name, sizeof(type) * (size_t)(length));
#define DA_PART_COPY(type, name) \
    to->name = kept.name;        \
    type##_copy(&to->name, &from->name);
#define DA_STRUCTURE(structure, LIST)                                                          \
    DA_FN size_t structure##_room(void) { return 1 LIST(DA_ARRAY_ROOM, DA_PART_ROOM); }        \
    DA_FN double *structure##_place(structure *it, double *room)                               \
    {                                                                                          \
        LIST(DA_ARRAY_PLACE, DA_PART_PLACE)                                                    \
        return room;                                                                           \
    }                                                                                          \
    DA_FN void structure##_copy(structure *to, const structure *from)                          \
    {                                                                                          \
        const structure kept = *to;                                                            \
        *to = *from;                                                                           \
        LIST(DA_ARRAY_COPY, DA_PART_COPY)                                                      \
    }
#define DA_ARRAY_CLEAR(type, name, length) \
    it->name = kept.name;                  \
    memset(it->name, 0, sizeof(type) * (size_t)(length));
#define DA_PART_CLEAR(type, name) \
    it->name = kept.name;         \
    type##_clear(&it->name);
#define DA_CLEARED(structure, LIST)             \
    DA_FN void structure##_clear(structure *it) \
    {                                           \
        const structure kept = *it;             \
        memset(it, 0, sizeof(structure));       \
        LIST(DA_ARRAY_CLEAR, DA_PART_CLEAR)     \
    }
#define DA_LOCAL(structure, name)            \
    structure name;                          \
    double name##_room[structure##_room()];  \
    structure##_place(&name, name##_room)
#else
#define DA_ARRAY_MEMBER(type, name, length) type name[DA_AT_LEAST_1(length)];
#define DA_STRUCTURE(structure, LIST) \
    DA_FN void structure##_copy(structure *to, const structure *from) { *to = *from; }
#define DA_CLEARED(structure, LIST)             \
    DA_FN void structure##_clear(structure *it) \
    {                                           \
        const structure none = {0};             \
        *it = none;                             \
    }
#define DA_LOCAL(structure, name) structure name
#endif
#define DA_PART_MEMBER(type, name) type name;

#endif
