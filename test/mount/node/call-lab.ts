import type { RequestListener } from 'node:http'
import { createNodeFetch } from '../../../adapters/mount/node.ts'
import type { ByteStream, UpstreamCall } from '../../../src/index.ts'
import { httpUpstream, rawUpstream } from './upstream.ts'

/** Creates calls for a test file, and their upstreams. Closes all of them after the file's tests. */
export function createCallLab(after: (close: () => void) => void) {
  const fetch = createNodeFetch()
  const closers: Array<() => void> = [() => fetch.close()]
  after(() => {
    for (const close of closers) close()
  })

  async function http(listener: RequestListener) {
    const upstream = await httpUpstream(listener)
    closers.push(upstream.close)
    return upstream
  }

  async function raw(...[onRequest]: Parameters<typeof rawUpstream>) {
    const upstream = await rawUpstream(onRequest)
    closers.push(upstream.close)
    return upstream
  }

  return { fetch, http, raw, closers }
}

/** Creates a call. Default: a GET without headers or body. */
export const call = (url: string, rest: Partial<UpstreamCall> = {}): UpstreamCall => ({
  url,
  method: 'GET',
  headers: {},
  ...rest,
})

/** Resolves to the entire body as text. Rejects if reading the body fails. */
export async function getText(body: ByteStream): Promise<string> {
  let text = ''
  for (let chunk = await body.next(); chunk; chunk = await body.next()) text += Buffer.from(chunk).toString()
  return text
}

/** Resolves to the error that a promise rejects with. Throws if the promise resolves. */
export async function rejection(promise: Promise<unknown>): Promise<NodeJS.ErrnoException> {
  const value = await promise.catch((error: NodeJS.ErrnoException) => error)
  if (value instanceof Error) return value
  throw new Error(`resolved with ${JSON.stringify(value)}`)
}
