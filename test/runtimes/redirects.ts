import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Starts a provider that redirects every request, and the server that it redirects to, which must never receive one. */
export async function startRedirects() {
  let isRequested = false
  const canary = createServer((_, res) => {
    isRequested = true
    res.end('{}')
  })
  const statuses = [301, 302, 303, 307, 308]
  let calls = 0
  const provider = createServer((req, res) => {
    const status = statuses[calls % statuses.length] ?? 302
    calls += 1
    req.resume()
    res.writeHead(status, { location: `${getAddress(canary)}${req.url}` }).end()
  })
  await Promise.all(
    [canary, provider].map((server) => new Promise<void>((done) => server.listen(0, '127.0.0.1', done))),
  )
  return {
    url: getAddress(provider),
    get calls() {
      return calls
    },
    get isRequested() {
      return isRequested
    },
    close() {
      for (const server of [canary, provider]) server.close().closeAllConnections()
    },
  }
}

const getAddress = (server: { address(): AddressInfo | string | null }) =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a TCP server's address is never a string
