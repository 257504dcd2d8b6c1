/** What clients of the format pass over. */
export const KEEP_ALIVE = 'event: ping\ndata: {"type": "ping"}\n\n'
