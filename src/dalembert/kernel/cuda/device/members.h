/* Many motions: each thread integrates one member after the other, by steps of its own. */

/* From (shared, varied, row) the inputs of a member: the state (2 DA_N), then the parameters. row[j] says which row of
   varied (rows × count) has input j; −1: shared[j] is that of all; −2, of a state: its expression in the parameters. */
DA_FN void da_inputs(const double *shared, const double *varied, const int *row, long long count, long long member,
                     double *q, double *v, double *c)
{
    double p[DA_AT_LEAST_1(DA_NP)], start[DA_NE];
    DA_UNROLL
    for (int j = 0; j < DA_NP; j++) {
        const int at = row[DA_NE + j];
        p[j] = at < 0 ? shared[DA_NE + j] : varied[at * count + member];
    }
    da_start(p, start);
    DA_UNROLL
    for (int j = 0; j < DA_NE; j++) {
        const int at = row[j];
        const double given = at >= 0 ? varied[at * count + member] : at == -1 ? shared[j] : start[j];
        if (j < DA_N)
            q[j] = given;
        else
            v[j - DA_N] = given;
    }
    da_constants(p, c);
}

/* The logarithm of 1e-4, as small as the error of a step counts for the next one. */
#define DA_LOG_LEAST (-9.210340371976182)

DA_ENTRY da_members(long long count, const double *DA_RESTRICT shared, const double *DA_RESTRICT varied,
                    const int *DA_RESTRICT row, double t0, double t1, double rtol, double given_atol, int most_steps,
                    unsigned long long *DA_RESTRICT next, const double *DA_RESTRICT starts,
                    const double *DA_RESTRICT bounds, int parts, double *DA_RESTRICT final_state,
                    double *DA_RESTRICT reached, int *DA_RESTRICT status_out, int *DA_RESTRICT steps_out,
                    int *DA_RESTRICT rejected_out DA_LOOK_PARAMETERS)
{
    double q[DA_N], v[DA_N], qn[DA_N], vn[DA_N], k[DA_KEPT][DA_N];
#if DA_SHARED
    __shared__ double room[DA_ROOM * DA_THREADS];
    double *atol = room + threadIdx.x;
#else
    double room[DA_ROOM], *atol = room;
#endif
    double *c = atol + DA_AT(DA_NE), t = t0, h = 0.0, last = 0.0;
    /* As share_of in motion/integrate/settings.py. */
    const double share = given_atol > 0.0 ? 0.0 : da_max(1e-3 * rtol, DA_SINGLE ? 1e-7 : 1e-14);
    int steps = 0, rejections = 0, rejected = 0, status = DA_DONE, at_work = 0;
    long long member = DA_THREAD;
    da_past past;
#if DA_PACED
    int part = 0;
#else
    (void)starts, (void)bounds, (void)parts;
#endif
    DA_LOOK_LOCALS
    /* One loop for members and their steps, so that a thread that has finished one may go on with the next while those
       beside it are still on their way. The first state of a member arrives as those at the ends of steps do, by the
       same instructions: what fits into the instruction cache decides how fast this is. */
    for (;;) {
        double step = 0.0, tn = t0, grow = 1.0;
        int arrives = 0, good = 1;
        if (!at_work) {
            if (member >= count) break;
            da_inputs(shared, varied, row, count, member, qn, vn, c);
            last = 0.0;
            steps = rejections = rejected = 0;
            status = DA_DONE;
#if DA_PACED
            part = 0;
#endif
#if DA_VELOCITY_ROWS
            DA_UNROLL
            for (int j = 0; j < DA_POSITION_ROWS; j++) past.longest[j] = 0.0;
            past.nearness = 1.0;
            past.rate = 0.0;
#endif
            DA_UNROLL
            for (int j = 0; j < DA_N; j++) {
                q[j] = qn[j];
                v[j] = vn[j];
            }
            t = t0;
            arrives = 1;
            DA_LOOK_LOAD
        } else {
#if DA_PACED
            if (parts) h = da_min(h, da_longest(starts, bounds, parts, t, &part));
#endif
            if (h < 10.0 * DA_EPS * da_max(fabs(t), fabs(t1) * 1e-3))
                status = DA_STEP_TOO_SMALL;
            else if (steps >= most_steps || rejections >= most_steps)
                status = DA_BUDGET;
            else {
                const int to_end = t + h >= t1;
                step = to_end ? t1 - t : h;
                tn = to_end ? t1 : t + step;
                /* Of the length that the clock will show: its rounding, added up, would be time that is lost. */
                if (DA_SINGLE) step = tn - t;
                const double norm = da_step(t, q, v, step, k, c, qn, vn, rtol, atol, &good), size = log(norm);
                arrives = norm < 1.0;
                grow = da_factor_of(arrives, size, last);
                if (arrives) {
                    if (rejected) grow = da_min(grow, 1.0);
                    rejected = 0;
                    last = da_max(size, DA_LOG_LEAST);
                    steps++;
                } else {
                    rejected = 1;
                    rejections++;
                    h = step * grow;
                }
            }
        }
        if (arrives) {
            double margin[1], sum = 0.0;
            if (!good) status = DA_NEEDS_CPU;
            DA_LOOK_BEFORE
#if DA_VELOCITY_ROWS
            if (!status) status = da_project(qn, vn, tn, c, step, rtol, atol, &past);
#endif
            da_acceleration(qn, vn, tn, c, k[0], margin);
            DA_UNROLL
            for (int j = 0; j < DA_N; j++) sum += k[0][j] - k[0][j];
            if (sum != 0.0)
                status = DA_UNDEFINED;
            else if (!status && !(margin[0] > 0.0))
                status = DA_NEEDS_CPU;
            DA_LOOK_INSIDE
            if (!status || status == DA_EVENT) {
                DA_UNROLL
                for (int j = 0; j < DA_N; j++) {
                    q[j] = qn[j];
                    v[j] = vn[j];
                }
                t = DA_ARRIVAL;
                h = step * grow;
                if (share > 0.0 && at_work) da_grow(share, q, v, atol);
            }
        }
        if (!at_work && !status) {
            double a[DA_N], q0[DA_N], v0[DA_N];
            for (int j = 0; j < DA_N; j++) {
                a[j] = k[0][j];
                q0[j] = q[j];
                v0[j] = v[j];
            }
            if (given_atol > 0.0)
                for (int j = 0; j < DA_NE; j++) atol[DA_AT(j)] = given_atol;
            else
                da_tolerances(q0, v0, a, t1 - t0, share, atol);
            h = da_first_step(t, q0, v0, a, t1 - t0, rtol, atol, c);
            DA_LOOK_BEGIN
        }
        at_work = 1;
        if (status || !(t < t1)) {
            DA_UNROLL
            for (int j = 0; j < DA_N; j++) {
                final_state[j * count + member] = q[j];
                final_state[(DA_N + j) * count + member] = v[j];
            }
            reached[member] = t;
            status_out[member] = status;
            steps_out[member] = steps;
            rejected_out[member] = rejections;
            DA_LOOK_END
            member = next ? DA_THREADS_IN_ALL + DA_TAKE(next) : member + DA_THREADS_IN_ALL;
            at_work = 0;
        }
    }
}
