// What hand-written C++ takes for the programs of bench_native.py. Derivatives are forward: numbers
// carry a fixed number of tangents, which the compiler keeps in vector registers.

#include <cmath>
#include <vector>

template <int N>
struct Dual {
    double x;
    double t[N];
    Dual() {}
    Dual(double value) : x(value) {
        for (int i = 0; i < N; i++) t[i] = 0;
    }
};

#define EACH for (int i = 0; i < N; i++)

template <int N>
Dual<N> operator+(const Dual<N>& a, const Dual<N>& b) {
    Dual<N> out;
    out.x = a.x + b.x;
    EACH out.t[i] = a.t[i] + b.t[i];
    return out;
}

template <int N>
Dual<N> operator-(const Dual<N>& a, const Dual<N>& b) {
    Dual<N> out;
    out.x = a.x - b.x;
    EACH out.t[i] = a.t[i] - b.t[i];
    return out;
}

template <int N>
Dual<N> operator*(const Dual<N>& a, const Dual<N>& b) {
    Dual<N> out;
    out.x = a.x * b.x;
    EACH out.t[i] = a.t[i] * b.x + a.x * b.t[i];
    return out;
}

template <int N>
Dual<N> operator*(const Dual<N>& a, double b) {
    Dual<N> out;
    out.x = a.x * b;
    EACH out.t[i] = a.t[i] * b;
    return out;
}

// a += b * c, where c has no tangent
template <int N>
void add_product(Dual<N>& a, const Dual<N>& b, double c) {
    a.x += b.x * c;
    EACH a.t[i] += b.t[i] * c;
}

template <int N>
void add_product(Dual<N>& a, const Dual<N>& b, const Dual<N>& c) {
    a.x += b.x * c.x;
    EACH a.t[i] += b.t[i] * c.x + b.x * c.t[i];
}

template <int N>
Dual<N> chain(const Dual<N>& a, double value, double slope) {
    Dual<N> out;
    out.x = value;
    EACH out.t[i] = a.t[i] * slope;
    return out;
}

template <int N>
Dual<N> sin(const Dual<N>& a) {
    return chain(a, std::sin(a.x), std::cos(a.x));
}

template <int N>
Dual<N> cos(const Dual<N>& a) {
    return chain(a, std::cos(a.x), -std::sin(a.x));
}

template <int N>
Dual<N> sqrt(const Dual<N>& a) {
    double root = std::sqrt(a.x);
    return chain(a, root, 0.5 / root);
}

template <int N>
Dual<N> over(const Dual<N>& a, const Dual<N>& b) {
    double inverse = 1 / b.x, value = a.x * inverse;
    Dual<N> out;
    out.x = value;
    EACH out.t[i] = (a.t[i] - value * b.t[i]) * inverse;
    return out;
}

const int COLUMNS = 28, ANGLES = 26;
typedef Dual<COLUMNS> Number;

struct Pose {  // the first three rows of a matrix that moves points
    Number m[3][4];
};

static Pose times(const Pose& a, const Pose& b) {
    Pose out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            Number sum = a.m[i][0] * b.m[0][j];
            add_product(sum, a.m[i][1], b.m[1][j]);
            add_product(sum, a.m[i][2], b.m[2][j]);
            out.m[i][j] = j == 3 ? sum + a.m[i][3] : sum;
        }
    return out;
}

static Pose times(const Pose& a, const double* b) {  // b: 4 by 4
    Pose out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            Number sum = a.m[i][0] * b[j];
            for (int k = 1; k < 4; k++) add_product(sum, a.m[i][k], b[4 * k + j]);
            out.m[i][j] = sum;
        }
    return out;
}

static Pose before(const double* a, const Pose& b) {  // a: 4 by 4
    Pose out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            Number sum = b.m[0][j] * a[4 * i];
            for (int k = 1; k < 3; k++) add_product(sum, b.m[k][j], a[4 * i + k]);
            if (j == 3) sum.x += a[4 * i + 3];
            out.m[i][j] = sum;
        }
    return out;
}

static Pose turned(const Number& x, const Number& y, const Number& z) {
    Number cx = cos(x), sx = sin(x), cy = cos(y), sy = sin(y), cz = cos(z), sz = sin(z);
    Number sysx = sy * sx, sycx = sy * cx, zero(0.0);
    Pose out = {{
        {cy * cz, sysx * cz - cx * sz, sx * sz + sycx * cz, zero},
        {cy * sz, cx * cz + sysx * sz, sycx * sz - sx * cz, zero},
        {zero - sy, cy * sx, cy * cx, zero},
    }};
    return out;
}

extern "C" {

// Residuals (n, 3) and their derivatives (n, 3, 28): by 26 angles, and by each point's place.
void hand(const double* theta, const double* us, int n_bones, const int* parents,
          const double* relatives, const double* inverses, int n_vertices, const double* places,
          const double* weights, int n_points, const double* points, const int* triangles,
          double* out, double* jacobian) {
    Number angles[ANGLES];
    for (int i = 0; i < ANGLES; i++) {
        angles[i] = Number(theta[i]);
        angles[i].t[i] = 1;
    }
    std::vector<Pose> absolute(n_bones), moved(n_bones);
    Number zero(0.0);
    int next = 6;
    for (int b = 0; b < n_bones; b++) {
        // Bones 2, 6, 10, ...: palm; the three after each bend, the first of them sideways as well.
        Number x = zero, y = zero;
        int k = (b - 2) % 4;
        if (b >= 2 && k != 3) {
            x = angles[next++];
            if (k == 0) y = angles[next++];
        }
        Pose relative = before(relatives + 16 * b, turned(x, y, zero));
        absolute[b] = parents[b] < 0 ? relative : times(absolute[parents[b]], relative);
        moved[b] = times(absolute[b], inverses + 16 * b);
    }
    Number square = zero;
    for (int i = 0; i < 3; i++) add_product(square, angles[i], angles[i]);
    Number size = sqrt(square), s = sin(size), c = cos(size), rest = Number(1.0) - c;
    Number a[3] = {over(angles[0], size), over(angles[1], size), over(angles[2], size)};
    Number whole[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            Number term = a[i] * a[j] * rest;
            if (i == j) term = term + c;
            else {
                Number side = a[3 - i - j] * s;
                term = (j - i + 3) % 3 == 1 ? term - side : term + side;
            }
            whole[i][j] = term;
        }
    std::vector<Number> vertices(3 * n_vertices);
    for (int v = 0; v < n_vertices; v++) {
        const double* p = places + 4 * v;
        Number skin[3] = {zero, zero, zero};
        for (int b = 0; b < n_bones; b++) {
            double w = weights[b * n_vertices + v];
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 4; k++) add_product(skin[i], moved[b].m[i][k], p[k] * w);
        }
        for (int i = 0; i < 3; i++) {
            Number sum = angles[3 + i];
            for (int k = 0; k < 3; k++) add_product(sum, whole[i][k], skin[k]);
            vertices[3 * v + i] = sum;
        }
    }
    for (int p = 0; p < n_points; p++) {
        const int* corner = triangles + 3 * p;
        double u = us[2 * p], v = us[2 * p + 1];
        for (int i = 0; i < 3; i++) {
            const Number &x = vertices[3 * corner[0] + i], &y = vertices[3 * corner[1] + i],
                         &z = vertices[3 * corner[2] + i];
            out[3 * p + i] = points[3 * p + i] - (u * x.x + v * y.x + (1 - u - v) * z.x);
            double* row = jacobian + COLUMNS * (3 * p + i);
            for (int k = 0; k < ANGLES; k++)
                row[k] = -(u * x.t[k] + v * y.t[k] + (1 - u - v) * z.t[k]);
            row[ANGLES] = z.x - x.x;
            row[ANGLES + 1] = z.x - y.x;
        }
    }
}
}

// The determinant of n rows from the first on, of the columns that are left, and its derivative.
template <int N>
static double minors(const double* a, int row, const int* columns, int left) {
    if (left == 1) return a[N * row + columns[0]];
    int others[N];
    double sum = 0, sign = 1;
    for (int j = 0; j < left; j++) {
        for (int k = 0, m = 0; k < left; k++)
            if (k != j) others[m++] = columns[k];
        sum += sign * a[N * row + columns[j]] * minors<N>(a, row + 1, others, left - 1);
        sign = -sign;
    }
    return sum;
}

template <int N>
static void minors_back(const double* a, int row, const int* columns, int left, double bar,
                        double* bars) {
    if (left == 1) {
        bars[N * row + columns[0]] += bar;
        return;
    }
    int others[N];
    double sign = 1;
    for (int j = 0; j < left; j++) {
        for (int k = 0, m = 0; k < left; k++)
            if (k != j) others[m++] = columns[k];
        double minor = minors<N>(a, row + 1, others, left - 1);
        bars[N * row + columns[j]] += bar * sign * minor;
        minors_back<N>(a, row + 1, others, left - 1, bar * sign * a[N * row + columns[j]], bars);
        sign = -sign;
    }
}

extern "C" {

double minors7(const double* a) {
    int columns[7] = {0, 1, 2, 3, 4, 5, 6};
    return minors<7>(a, 0, columns, 7);
}

void minors7_gradient(const double* a, double* bars) {
    int columns[7] = {0, 1, 2, 3, 4, 5, 6};
    for (int i = 0; i < 49; i++) bars[i] = 0;
    minors_back<7>(a, 0, columns, 7, 1.0, bars);
}
}
