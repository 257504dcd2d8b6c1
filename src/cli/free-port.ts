import { createServer } from 'node:net'

/**
 * Rejects, as listening would, when the address cannot be had. Asked before the data folder is opened, so that a start which comes to
 * nothing for such a simple reason makes and says nothing else.
 */
export function requireFreePort({ port, host }: { port: number; host: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(port, host, () => server.close(() => resolve()))
  })
}
