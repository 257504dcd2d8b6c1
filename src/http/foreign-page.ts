import type { Exchange, Reply } from '../lib/exchange.ts'

/** How long a browser may keep the answer to a preflight request, in s; Chromium keeps none for longer. */
const MAX_AGE = 7_200

/**
 * Answers a request from a page of an allowed origin so that the page may send it and read the reply, an error too. Header names are
 * repeated as the browser asks for them, since `*` does not stand for `Authorization` (Fetch standard, CORS protocol). No credentials of
 * the browser are let in: a client key is all that counts.
 */
export async function forPage(origin: string, exchange: Exchange, serve: () => Promise<Reply>): Promise<Reply> {
  const readable = { 'access-control-allow-origin': origin, vary: 'Origin' }
  if (exchange.method === 'OPTIONS' && exchange.header('access-control-request-method') !== undefined) {
    const asked = exchange.header('access-control-request-headers')
    return {
      status: 204,
      headers: {
        ...readable,
        'access-control-allow-methods': 'GET, HEAD, POST',
        ...(asked !== undefined && { 'access-control-allow-headers': asked }),
        'access-control-max-age': `${MAX_AGE}`,
      },
    }
  }
  const reply = await serve()
  return { ...reply, headers: { ...reply.headers, ...readable, 'access-control-expose-headers': '*' } }
}
