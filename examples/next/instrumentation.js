/** Next calls this once when the server starts, before the first request. */
export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { openGateway } = await import('./gateway.js')
  await openGateway()
}
