import type { Server } from 'node:http'

const reasons: Record<string, string> = {
  EADDRINUSE: 'is already in use. Choose another, or 0 for any free one.',
  EACCES: 'may not be opened by this user. Choose one above 1023.',
  EADDRNOTAVAIL: 'cannot be opened: the address is not one of this machine.',
}

/** Starts listening; resolves to the address. Rejects with a message that says what is wrong; `code` is Node's. */
export function listen(server: Server, port: number, hostname: string): Promise<{ url: string; port: number }> {
  return new Promise((resolve, reject) => {
    // Text that is no number, as callers without types give it, would make a socket of that name in the folder.
    if (!/^\d{1,5}$/.test(`${port}`) || port > 65_535)
      throw new TypeError('port must be a whole number from 0 to 65535, 0 for any free one.')
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, port, hostname)))
    server.listen(port, hostname, () => {
      const address = server.address()
      const bound = typeof address === 'object' && address ? address.port : port
      resolve({ port: bound, url: `http://${reachable(hostname)}:${bound}` })
    })
  })
}

function explain(error: NodeJS.ErrnoException, port: number, hostname: string): Error {
  const reason = reasons[error.code ?? '']
  if (!reason) return error
  return Object.assign(new Error(`Port ${port} on ${hostname} ${reason}`, { cause: error }), { code: error.code })
}

/** A name under which a server on `hostname` is reached from this machine. */
function reachable(hostname: string): string {
  if (hostname === '0.0.0.0' || hostname === '::') return 'localhost'
  return hostname.includes(':') ? `[${hostname}]` : hostname
}
