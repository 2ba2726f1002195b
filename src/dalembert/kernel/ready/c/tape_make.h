/* From CasADi's instructions to a tape: values get names of their own, the same operation on the same values is done
   once (CasADi's own search for that takes most of the time to derive a large model), what depends on parameters alone
   is set apart, products are joined with the sums they go into, sines and cosines are taken four at once where all that
   they need is known at the same time, and results get places that are free. */
#ifndef DA_TAPE_MAKE_H
#define DA_TAPE_MAKE_H

/* CasADi's instruction: the operation, the place of its result, the places of its operands. Of a constant the last two
   are the number itself; of an input they say which, and which entry; of an output the first does, and the last. */
typedef struct {
    int op, into, a, b;
} da_raw;

/* What a function is, besides its instructions. */
typedef struct {
    const da_raw *raw;
    long count;
    const int *input_at;  /* where each input begins, behind each other; the parameters count by themselves: -1 */
    const int *output_at; /* of each output: where its entries begin in `place` */
    const int *place;     /* of each entry of the outputs: where it goes, all outputs behind each other */
    int inputs, outputs, parameters; /* how many numbers each */
    int op_constant, op_input, op_output, op_assign, op_add, op_sub, op_mul, op_sin, op_cos; /* CasADi's codes */
} da_function;

typedef enum { DA_LIVE, DA_CONSTANT, DA_PARAMETER, DA_FIXED, DA_INPUT } da_kind;

/* A value, named by the instruction that makes it. */
typedef struct {
    da_kind kind;
    int op, a, b, c; /* operands are values; c only where a product is joined */
    int at;          /* its place among those of its kind; of a live one in w */
    int uses;
    int home;  /* the output that it is, or -1 */
    int below; /* how many sines and cosines stand one inside the other in what it is made from */
    int gone;  /* joined with another, or the same as another */
    int made[2]; /* what it was made of, as it was read */
    int last;  /* the last item that reads it */
} da_value;

/* Sines and cosines of at most four angles. */
typedef struct {
    int count, angle[4], sine[4], cosine[4];
} da_turn_group;

typedef struct {
    const da_function *f;
    da_value *value;
    int *holds;       /* of each of CasADi's places: the value there now */
    int *known;       /* values by what they are made of: a table with free places, −1 */
    unsigned mask;    /* its length, a power of two, less one */
    long distinct;    /* operations that differ */
    int *item;        /* what is to be done, in order: a value, or −1 − a group */
    da_turn_group *group;
    int *free_places; /* given back */
    int *again, *again_of; /* outputs that are written by themselves, and the values they are */
    int items, groups, freed, agains;
    int constants, fixed, places, outputs_at, inputs_at, nobody;
    int *code;        /* written so far */
    long length;
} da_maker;

static const signed char da_tape_arity[DA_TAPE_ALL] = {
#define DA_TAPE_TWO(code, form) [code] = 2,
#define DA_TAPE_ONE(code, form) [code] = 1,
    DA_TAPE_OPERATIONS(DA_TAPE_TWO, DA_TAPE_ONE)
#undef DA_TAPE_TWO
#undef DA_TAPE_ONE
};

static int da_is_turn(const da_function *f, int op) { return op == f->op_sin || op == f->op_cos; }

/* Where a value stands in w. */
static int da_place_of(const da_maker *m, int value)
{
    const da_value *v = m->value + value;
    switch (v->kind) {
    case DA_CONSTANT:
        return v->at;
    case DA_PARAMETER:
        return m->constants + v->at;
    case DA_FIXED:
        return m->constants + m->f->parameters + v->at;
    case DA_INPUT:
        return m->inputs_at + v->at;
    default:
        return v->at;
    }
}

/* An output: the value that it is gets its place, unless it never changes or has another one. */
static void da_read_output(da_maker *m, const da_raw *r)
{
    const int place = m->f->place[m->f->output_at[r->into] + r->b], of = m->holds[r->a];
    da_value *source = m->value + of;
    if (source->kind == DA_LIVE && source->home < 0) {
        source->home = place;
    } else {
        m->again[m->agains] = place;
        m->again_of[m->agains++] = of;
        source->uses++;
    }
}

/* The value that is made of the same, or this one, which is kept. Constants are made of their bits. */
static int da_same(da_maker *m, int k, int op, int a, int b)
{
    unsigned at = (unsigned)op * 0x9E3779B1u ^ (unsigned)a * 0x85EBCA6Bu ^ (unsigned)b * 0xC2B2AE35u;
    at ^= at >> 15;
    for (at &= m->mask; m->known[at] >= 0; at = (at + 1) & m->mask) {
        const da_value *v = m->value + m->known[at];
        if (v->op == op && v->made[0] == a && v->made[1] == b) return m->known[at];
    }
    m->known[at] = k;
    m->value[k].made[0] = a;
    m->value[k].made[1] = b;
    return k;
}

static void da_read_operation(da_maker *m, da_value *v)
{
    int moves = 0;
    m->distinct++;
    for (int second = 0; second <= (v->b >= 0); second++) {
        da_value *of = m->value + (second ? v->b : v->a);
        of->uses++;
        moves |= of->kind == DA_LIVE || of->kind == DA_INPUT;
        if (of->kind != DA_LIVE) continue;
        const int level = of->below + da_is_turn(m->f, of->op);
        if (level > v->below) v->below = level;
    }
    if (moves) return;
    v->kind = DA_FIXED;
    v->at = m->fixed++;
}

/* Reads all instructions. Returns 0, or −1 − the operation that is not known. */
static int da_read(da_maker *m, double *constants)
{
    const da_function *f = m->f;
    for (long k = 0; k < f->count; k++) {
        const da_raw *r = f->raw + k;
        da_value *v = m->value + k;
        *v = (da_value){.kind = DA_LIVE, .op = r->op, .a = -1, .b = -1, .c = -1, .home = -1, .last = -1};
        if (r->op == f->op_output) {
            da_read_output(m, r);
            v->gone = 1;
            continue;
        }
        if (r->op == f->op_assign) {
            m->holds[r->into] = m->holds[r->a];
            v->gone = 1;
            continue;
        }
        const int whole = r->op == f->op_constant || r->op == f->op_input;
        if (!whole && (r->op < 0 || r->op >= DA_TAPE_CODES || !da_tape_arity[r->op])) return -1 - r->op;
        const int a = whole ? r->a : m->holds[r->a];
        const int b = whole ? r->b : da_tape_arity[r->op] == 2 ? m->holds[r->b] : -1;
        const int same = da_same(m, (int)k, r->op, a, b);
        m->holds[r->into] = same;
        if (same != k) {
            v->gone = 1;
            continue;
        }
        if (r->op == f->op_constant) {
            v->kind = DA_CONSTANT;
            v->at = m->constants++;
            memcpy(constants + v->at, &r->a, sizeof(double));
            if (!da_finite(constants[v->at])) constants[v->at] = 0.0 / 0.0; /* no value, whatever the state */
        } else if (r->op == f->op_input) {
            v->kind = f->input_at[r->a] < 0 ? DA_PARAMETER : DA_INPUT;
            v->at = v->kind == DA_INPUT ? f->input_at[r->a] + r->b : r->b;
        } else {
            v->a = a;
            v->b = b;
            da_read_operation(m, v);
        }
    }
    return 0;
}

/* A product that one sum alone reads is joined with it. */
static void da_join(da_maker *m)
{
    const da_function *f = m->f;
    for (long k = 0; k < f->count; k++) {
        da_value *v = m->value + k;
        if (v->gone || v->kind != DA_LIVE || (v->op != f->op_add && v->op != f->op_sub)) continue;
        for (int second = 1; second >= 0; second--) {
            da_value *of = m->value + (second ? v->b : v->a);
            if (of->kind != DA_LIVE || of->op != f->op_mul || of->uses != 1 || of->home >= 0) continue;
            v->c = second ? v->a : v->b;
            v->op = v->op == f->op_add ? DA_TAPE_ADD : second ? DA_TAPE_TAKE : DA_TAPE_LESS;
            v->a = of->a;
            v->b = of->b;
            of->gone = 1;
            break;
        }
    }
}

/* The sines and cosines of one level, in groups of four angles. `first`: of each value, the group whose angle it is. */
static void da_group(da_maker *m, const int *turns, int count, int *first)
{
    const int from = m->groups;
    for (int i = 0; i < count; i++) first[m->value[turns[i]].a] = -1;
    for (int i = 0; i < count; i++) {
        const int angle = m->value[turns[i]].a, sine = m->value[turns[i]].op == m->f->op_sin;
        if (first[angle] < 0) {
            if (m->groups == from || m->group[m->groups - 1].count == 4) {
                m->group[m->groups].count = 0;
                m->item[m->items++] = -1 - m->groups++;
            }
            da_turn_group *g = m->group + m->groups - 1;
            first[angle] = 4 * (m->groups - 1) + g->count;
            g->angle[g->count] = angle;
            g->sine[g->count] = g->cosine[g->count] = -1;
            g->count++;
        }
        da_turn_group *g = m->group + first[angle] / 4;
        int *known = (sine ? g->sine : g->cosine) + first[angle] % 4;
        if (*known < 0) *known = turns[i];
    }
    /* The same once more is a copy, after all groups. */
    for (int i = 0; i < count; i++) {
        da_value *v = m->value + turns[i];
        const da_turn_group *g = m->group + first[v->a] / 4;
        const int known = (v->op == m->f->op_sin ? g->sine : g->cosine)[first[v->a] % 4];
        if (known == turns[i]) continue;
        v->op = m->f->op_assign;
        v->a = known;
        m->item[m->items++] = turns[i];
    }
}

/* All that is live, level by level: first what has no more sines and cosines inside, in the order in which it came. */
static int da_order(da_maker *m)
{
    const long count = m->f->count;
    int levels = 0;
    for (long k = 0; k < count; k++)
        if (m->value[k].kind == DA_LIVE && m->value[k].below > levels) levels = m->value[k].below;
    const int keys = 2 * (levels + 1);
    int *start = calloc((size_t)keys + 1, sizeof(int)), *sorted = malloc(sizeof(int) * (size_t)(count + 1));
    int *first = malloc(sizeof(int) * (size_t)(count + 1));
    const int failed = !start || !sorted || !first;
    for (int pass = 0; pass < 2 && !failed; pass++) {
        for (long k = 0; k < count; k++) {
            const da_value *v = m->value + k;
            if (v->gone || v->kind != DA_LIVE || (!v->uses && v->home < 0)) continue;
            const int key = 2 * v->below + da_is_turn(m->f, v->op);
            if (pass)
                sorted[start[key]++] = (int)k;
            else
                start[key + 1]++;
        }
        for (int i = 0; !pass && i < keys; i++) start[i + 1] += start[i];
    }
    for (int key = 0, from = 0; key < keys && !failed; key++) {
        const int to = start[key]; /* after the second pass: the end */
        if (key % 2)
            da_group(m, sorted + from, to - from, first);
        else
            for (int i = from; i < to; i++) m->item[m->items++] = sorted[i];
        from = to;
    }
    free(start);
    free(sorted);
    free(first);
    return failed;
}

static void da_reads(da_maker *m, int value, int item)
{
    if (value >= 0 && m->value[value].kind == DA_LIVE) m->value[value].last = item;
}

static void da_make_room(da_maker *m, int value)
{
    da_value *v = m->value + value;
    if (v->home >= 0)
        v->at = m->outputs_at + v->home;
    else if (v->last < 0)
        v->at = m->nobody;
    else
        v->at = m->freed ? m->free_places[--m->freed] : m->places++;
}

static void da_give_back(da_maker *m, int value, int item)
{
    if (value < 0) return;
    da_value *v = m->value + value;
    if (v->kind != DA_LIVE || v->home >= 0 || v->last != item) return;
    v->last = -2; /* once, also where it is read twice */
    m->free_places[m->freed++] = v->at;
}

/* Places of operands; -1 where there is none. */
static void da_write(da_maker *m, int op, int into, int a, int b, int c)
{
    int *code = m->code + m->length;
    code[0] = op;
    code[1] = into;
    code[2] = a;
    if (b >= 0) code[3] = b;
    if (c >= 0) code[4] = c;
    m->length += c >= 0 ? DA_LENGTH_FUSED : b >= 0 ? DA_LENGTH_BINARY : DA_LENGTH_UNARY;
}

static void da_write_value(da_maker *m, int value, int item)
{
    da_value *v = m->value + value;
    const int of[3] = {v->a, v->b, v->c};
    int at[3];
    for (int k = 0; k < 3; k++) at[k] = of[k] < 0 ? -1 : da_place_of(m, of[k]);
    for (int k = 0; k < 3; k++) da_give_back(m, of[k], item); /* the result may take the place of an operand */
    da_make_room(m, value);
    da_write(m, v->op, v->at, at[0], at[1], at[2]);
}

static void da_write_group(da_maker *m, const da_turn_group *g, int item)
{
    int *code = m->code + m->length;
    code[0] = DA_TAPE_TURN;
    for (int k = 0; k < 4; k++) {
        const int used = k < g->count;
        code[1 + k] = da_place_of(m, g->angle[used ? k : 0]);
        for (int cosine = 0; cosine < 2; cosine++) {
            const int value = used ? (cosine ? g->cosine : g->sine)[k] : -1;
            if (value >= 0) da_make_room(m, value);
            code[5 + 4 * cosine + k] = value >= 0 ? m->value[value].at : m->nobody;
        }
    }
    for (int k = 0; k < g->count; k++) da_give_back(m, g->angle[k], item);
    m->length += DA_LENGTH_TURN;
}

static void da_write_live(da_maker *m)
{
    for (int i = 0; i < m->items; i++) {
        if (m->item[i] >= 0) {
            const da_value *v = m->value + m->item[i];
            da_reads(m, v->a, i);
            da_reads(m, v->b, i);
            da_reads(m, v->c, i);
        } else {
            const da_turn_group *g = m->group - 1 - m->item[i];
            for (int k = 0; k < g->count; k++) da_reads(m, g->angle[k], i);
        }
    }
    for (int i = 0; i < m->agains; i++) da_reads(m, m->again_of[i], m->items);
    for (int i = 0; i < m->items; i++) {
        if (m->item[i] >= 0)
            da_write_value(m, m->item[i], i);
        else
            da_write_group(m, m->group - 1 - m->item[i], i);
    }
}

static void da_write_fixed(da_maker *m)
{
    for (int k = 0; k < (int)m->f->count; k++) {
        const da_value *v = m->value + k;
        if (v->kind != DA_FIXED) continue;
        da_write(m, v->op, da_place_of(m, k), da_place_of(m, v->a), v->b < 0 ? -1 : da_place_of(m, v->b), -1);
    }
}

/* Outputs that are no live value's own place: those that never change, or the others; and the end. */
static void da_write_again(da_maker *m, int live)
{
    for (int i = 0; i < m->agains; i++) {
        const da_kind kind = m->value[m->again_of[i]].kind;
        if ((kind == DA_LIVE || kind == DA_INPUT) != live) continue;
        da_write(m, m->f->op_assign, m->outputs_at + m->again[i], da_place_of(m, m->again_of[i]), -1, -1);
    }
    m->code[m->length++] = DA_TAPE_END;
}

/* Numbers of `code` that a function of so many instructions needs at most. */
DA_READY long da_tape_room(long count) { return DA_LENGTH_TURN * count + 2; }

/* Writes constants (at most as many as instructions) and code, first the fixed, then the live; `found` receives how
   many constants, where inputs and outputs stand, the size of w, the length of both codes, and of operations how many.
   Returns 0; −1 where memory is
   short; −2 − an operation that is not known. */
DA_READY int da_tape_make(const da_function *f, int *code, double *constants, long *found)
{
    const size_t count = (size_t)f->count + 1;
    int places = 1, status = -1;
    for (long k = 0; k < f->count; k++)
        if (f->raw[k].op != f->op_output && f->raw[k].into >= places) places = f->raw[k].into + 1;
    da_maker m = {.f = f, .code = code};
    m.value = malloc(sizeof(da_value) * count);
    m.holds = calloc((size_t)places, sizeof(int));
    m.item = malloc(sizeof(int) * count);
    m.group = malloc(sizeof(da_turn_group) * count);
    m.free_places = malloc(sizeof(int) * count);
    m.again = malloc(sizeof(int) * count);
    m.again_of = malloc(sizeof(int) * count);
    for (m.mask = 1; m.mask < 2 * count; m.mask *= 2) {}
    m.known = malloc(sizeof(int) * m.mask);
    for (unsigned i = 0; m.known && i < m.mask; i++) m.known[i] = -1;
    m.mask--;
    if (m.known && m.value && m.holds && m.item && m.group && m.free_places && m.again && m.again_of) {
        status = da_read(&m, constants);
        if (status) status--;
    }
    if (!status) {
        da_join(&m);
        m.inputs_at = m.constants + f->parameters + m.fixed;
        m.outputs_at = m.inputs_at + f->inputs;
        m.nobody = m.outputs_at + f->outputs;
        m.places = m.nobody + 1;
        if (da_order(&m)) status = -1;
    }
    if (!status) {
        da_write_fixed(&m);
        da_write_again(&m, 0);
        found[4] = m.length;
        da_write_live(&m);
        da_write_again(&m, 1);
        found[0] = m.constants;
        found[1] = m.inputs_at;
        found[2] = m.outputs_at;
        found[3] = m.places;
        found[5] = m.length - found[4];
        found[6] = m.distinct;
    }
    free(m.known), free(m.value), free(m.holds), free(m.item), free(m.group), free(m.free_places);
    free(m.again), free(m.again_of);
    return status;
}

#endif
