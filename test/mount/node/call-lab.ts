import type { RequestListener } from 'node:http'
import { createNodeFetch } from '../../../adapters/mount/node.ts'
import type { ByteStream, UpstreamCall } from '../../../src/index.ts'
import { httpUpstream, rawUpstream } from './upstream.ts'

/** The calls of a test file, and upstreams for them; all are closed after its tests. */
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

/** By default, a GET without headers or body. */
export const call = (url: string, rest: Partial<UpstreamCall> = {}): UpstreamCall => ({
  url,
  method: 'GET',
  headers: {},
  ...rest,
})

/** All of a body as text; rejects as the body does. */
export async function textOf(body: ByteStream): Promise<string> {
  let text = ''
  for (let chunk = await body.next(); chunk; chunk = await body.next()) text += Buffer.from(chunk).toString()
  return text
}

/** The error that a promise rejects with; throws when it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<NodeJS.ErrnoException> {
  const value = await promise.catch((error: NodeJS.ErrnoException) => error)
  if (value instanceof Error) return value
  throw new Error(`resolved with ${JSON.stringify(value)}`)
}
