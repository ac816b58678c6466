/* All tilings of the 6x10 board with the twelve pentominoes, as in a textbook: fill the first empty cell, down
 * the columns, with every orientation of every remaining piece. There is no pruning. F keeps two of its eight
 * orientations, one for each class under the four symmetries of the board, so each tiling is found once instead
 * of four times. The search of antipodes.tilings is compared with this program.
 *
 * Build and run: gcc -O3 -march=native pentominoes.c -o pentominoes && ./pentominoes
 * Prints one JSON line: solutions, placements (how often a piece was placed without overlap) and the
 * seconds of the search.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { ROWS = 6, COLUMNS = 10, CELLS = ROWS * COLUMNS, PIECES = 12, SIZE = 5, MOST = 8 };

typedef struct { int row, column; } Cell;
typedef struct { int count; uint64_t masks[MOST]; } Options;

static const char *const DRAWINGS[PIECES][3] = {
    {".XX", "XX.", ".X."}, {"XXXXX"},       {"XXXX", "X..."},      {"XX..", ".XXX"},
    {"XX", "XX", "X."},    {"XXX", ".X.", ".X."}, {"X.X", "XXX"},  {"X..", "X..", "XXX"},
    {"X..", "XX.", ".XX"}, {".X.", "XXX", ".X."}, {"XXXX", ".X.."}, {"XX.", ".X.", ".XX"},
};

static const Cell F_KEPT[2][SIZE] = {
    {{0, 0}, {1, 0}, {1, 1}, {2, 1}, {1, 2}},
    {{0, 0}, {0, 1}, {1, 1}, {2, 1}, {1, 2}},
};

/* The masks of each piece, by the first cell that they cover in column-major order. */
static Options options[CELLS][PIECES];
static uint64_t solutions, placements;

static void read_drawing(const char *const *drawing, Cell *cells) {
    int found = 0;
    for (int row = 0; row < 3 && drawing[row]; row++)
        for (int column = 0; drawing[row][column]; column++)
            if (drawing[row][column] == 'X') cells[found++] = (Cell){row, column};
}

/* Turn by a quarter, and after the fourth quarter mirror as well. */
static void next_orientation(Cell *cells, int quarter) {
    for (int i = 0; i < SIZE; i++) {
        Cell turned = {cells[i].column, -cells[i].row};
        if (quarter == 3) turned.column = -turned.column;
        cells[i] = turned;
    }
}

static void move_to_corner(Cell *cells) {
    int top = cells[0].row, left = cells[0].column;
    for (int i = 1; i < SIZE; i++) {
        if (cells[i].row < top) top = cells[i].row;
        if (cells[i].column < left) left = cells[i].column;
    }
    for (int i = 0; i < SIZE; i++) cells[i] = (Cell){cells[i].row - top, cells[i].column - left};
}

static void add_mask(int piece, uint64_t mask) {
    Options *here = &options[__builtin_ctzll(mask)][piece];
    for (int i = 0; i < here->count; i++)
        if (here->masks[i] == mask) return;
    here->masks[here->count++] = mask;
}

static void add_placements(int piece, const Cell *cells) {
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            uint64_t mask = 0;
            for (int i = 0; i < SIZE; i++) {
                int r = row + cells[i].row, c = column + cells[i].column;
                if (r < ROWS && c < COLUMNS) mask |= UINT64_C(1) << (c * ROWS + r);
            }
            if (__builtin_popcountll(mask) == SIZE) add_mask(piece, mask);
        }
}

static void prepare(void) {
    for (int i = 0; i < 2; i++) add_placements(0, F_KEPT[i]);
    for (int piece = 1; piece < PIECES; piece++) {
        Cell cells[SIZE];
        read_drawing(DRAWINGS[piece], cells);
        for (int orientation = 0; orientation < 8; orientation++) {
            move_to_corner(cells);
            add_placements(piece, cells);
            next_orientation(cells, orientation);
        }
    }
}

static void search(uint64_t filled, unsigned left) {
    const Options *at = options[__builtin_ctzll(~filled)];
    for (unsigned rest = left; rest; rest &= rest - 1) {
        const int piece = __builtin_ctz(rest);
        for (int i = 0; i < at[piece].count; i++) {
            if (at[piece].masks[i] & filled) continue;
            placements++;
            const unsigned remaining = left & ~(1u << piece);
            if (remaining) search(filled | at[piece].masks[i], remaining);
            else solutions++;
        }
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(void) {
    prepare();
    const double start = now();
    search(0, (1u << PIECES) - 1);
    const double seconds = now() - start;
    printf("{\"solutions\": %llu, \"placements\": %llu, \"seconds\": %.4f}\n", (unsigned long long)solutions,
           (unsigned long long)placements, seconds);
    return 0;
}
