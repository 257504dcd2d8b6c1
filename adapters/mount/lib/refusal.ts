/** The headers of an answer to a request that does not reach the gateway; those of the gateway's own errors. */
export const refusalHeaders = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const

/** The response to a Fetch request that does not reach the gateway, in the form of the gateway's errors. */
export const refusal = (status: number, error: string): Response =>
  new Response(JSON.stringify({ error }), { status, headers: refusalHeaders })
