/* The textbook program that antipodes is compared with: breadth-first search of three-colours,
 * the 4x4 sliding puzzle with five tiles of each of three colours, 12,108,096 positions.
 *
 * One byte per position. For each layer it scans the whole array, unranks each position of the last layer,
 * and ranks its neighbours:
 * blank digit x combination number of colour 1 among 15 x combination number of colour 2 among the 10 left.
 *
 * Build and run: gcc -O3 -march=native textbook.c -o textbook && ./textbook
 * Prints one JSON line: the layers, the number of positions and the seconds of the whole search.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 4, CELLS = 16, TILES = 15, EACH = 5, LEFT = 10, UNSEEN = 255 };

static int64_t choose[CELLS + 1][CELLS + 1];
static int64_t first_colours, second_colours; /* C(15, 5) and C(10, 5) */

static void fill_choose(void) {
    for (int n = 0; n <= CELLS; n++)
        for (int k = 0; k <= n; k++)
            choose[n][k] = k == 0 ? 1 : choose[n - 1][k - 1] + (k <= n - 1 ? choose[n - 1][k] : 0);
    first_colours = choose[TILES][EACH];
    second_colours = choose[LEFT][EACH];
}

static int64_t rank(const uint8_t *board) {
    int64_t blank = 0, first = 0, second = 0;
    int tiles = 0, firsts = 0, others = 0, seconds = 0;
    for (int cell = 0; cell < CELLS; cell++) {
        if (board[cell] == 0) {
            blank = cell;
            continue;
        }
        if (board[cell] == 1) {
            first += choose[tiles][++firsts];
        } else {
            if (board[cell] == 2) second += choose[others][++seconds];
            others++;
        }
        tiles++;
    }
    return (blank * first_colours + first) * second_colours + second;
}

static void unrank(int64_t index, uint8_t *board) {
    int64_t second = index % second_colours, first = index / second_colours % first_colours;
    int blank = (int)(index / second_colours / first_colours);
    uint8_t others[LEFT], tiles[TILES];
    for (int place = LEFT - 1, left = EACH; place >= 0; place--) {
        int take = left > 0 && choose[place][left] <= second;
        if (take) second -= choose[place][left--];
        others[place] = take ? 2 : 3;
    }
    for (int place = TILES - 1, left = EACH, other = LEFT - 1; place >= 0; place--) {
        int take = left > 0 && choose[place][left] <= first;
        if (take) first -= choose[place][left--];
        tiles[place] = take ? 1 : others[other--];
    }
    for (int cell = 0, tile = 0; cell < CELLS; cell++) board[cell] = cell == blank ? 0 : tiles[tile++];
}

static int64_t visit(uint8_t *depths, uint8_t *board, int blank, int other, uint8_t depth) {
    board[blank] = board[other];
    board[other] = 0;
    int64_t neighbour = rank(board);
    board[other] = board[blank];
    board[blank] = 0;
    if (depths[neighbour] != UNSEEN) return 0;
    depths[neighbour] = depth;
    return 1;
}

static int64_t expand_layer(uint8_t *depths, int64_t size, uint8_t depth) {
    uint8_t board[CELLS];
    int64_t found = 0;
    for (int64_t index = 0; index < size; index++) {
        if (depths[index] != depth) continue;
        unrank(index, board);
        int blank = (int)(index / second_colours / first_colours);
        if (blank % SIDE > 0) found += visit(depths, board, blank, blank - 1, depth + 1);
        if (blank % SIDE < SIDE - 1) found += visit(depths, board, blank, blank + 1, depth + 1);
        if (blank >= SIDE) found += visit(depths, board, blank, blank - SIDE, depth + 1);
        if (blank < CELLS - SIDE) found += visit(depths, board, blank, blank + SIDE, depth + 1);
    }
    return found;
}

int main(void) {
    static const uint8_t start[CELLS] = {1, 1, 2, 2, 1, 1, 2, 2, 1, 3, 3, 2, 3, 3, 3, 0};
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    fill_choose();
    int64_t size = CELLS * first_colours * second_colours, states = 1, layer = 1;
    uint8_t *depths = malloc((size_t)size);
    if (depths == NULL) return 1;
    memset(depths, UNSEEN, (size_t)size);
    depths[rank(start)] = 0;
    printf("{\"layers\": [1");
    for (uint8_t depth = 0; (layer = expand_layer(depths, size, depth)) > 0; depth++) {
        states += layer;
        printf(", %lld", (long long)layer);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf("], \"states\": %lld, \"seconds\": %.3f}\n", (long long)states, seconds);
    free(depths);
    return 0;
}
