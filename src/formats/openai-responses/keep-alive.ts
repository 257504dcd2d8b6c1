/** What clients of the format pass over. */
export const KEEP_ALIVE = ': keep-alive\n\n'
