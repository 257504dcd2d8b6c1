/* Keep-alives for silent streams. Clients ignore them. */

/** A comment in server-sent events. */
export const COMMENT_KEEP_ALIVE = ': keep-alive\n\n'

/** Anthropic's keep-alive event. */
export const PING_KEEP_ALIVE = 'event: ping\ndata: {"type": "ping"}\n\n'

/** Blank lines, because Google's Python client mistakes a comment for a chunk. */
export const BLANK_KEEP_ALIVE = '\n\n'
