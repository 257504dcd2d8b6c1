/** What clients of the format pass over: Google's own for Python takes a comment for a chunk. */
export const KEEP_ALIVE = '\n\n'
