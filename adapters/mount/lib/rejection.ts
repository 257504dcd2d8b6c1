/** Response headers for requests that don't reach the gateway; the same as in the gateway's own errors. */
export const rejectionHeaders = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const

/** Creates the response to a Fetch request that doesn't reach the gateway, formatted like the gateway's errors. */
export const createRejection = (status: number, error: string): Response =>
  new Response(JSON.stringify({ error }), { status, headers: rejectionHeaders })
