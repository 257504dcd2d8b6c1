/** The bare proxy on Bun, built from `Bun.serve` and `fetch`. */
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    const headers = new Headers(request.headers)
    for (const name of ['host', 'connection', 'content-length']) headers.delete(name)
    const body = await request.arrayBuffer()
    const response = await fetch(`${process.env.PROVIDER}${pathname}`, { method: 'POST', headers, body })
    const kept = new Headers(response.headers)
    for (const name of ['transfer-encoding', 'connection', 'keep-alive']) kept.delete(name)
    return new Response(response.body, { status: response.status, headers: kept })
  },
})
console.log(JSON.stringify({ url: server.url.origin }))
