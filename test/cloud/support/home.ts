import { type CloudCode, type MirrorState, paths, type SyncAnswer } from '../../../src/sync/protocol.ts'
import type { Client } from './client.ts'
import { ENROLMENT } from './proxy.ts'

/** A gateway as far as a proxy sees it: what it remembers, and what it does when it is refused. */
export function createHome(client: Client) {
  let memory: { mirror: string | null; stamp: string | null } = { mirror: null, stamp: null }

  /** Opens another session when the proxy asks for one. Rejects with the code of the refusal. */
  async function call(method: string, path: string, content?: object): Promise<Record<string, unknown>> {
    for (let attempts = 0; ; attempts++) {
      const { status, body } = await client.call(method, path, content)
      if (status === 200) return body
      if (body.code !== 'SESSION_INVALID' || attempts > 0) throw Object.assign(new Error(String(body.error)), body)
      await open()
    }
  }

  async function open(): Promise<void> {
    const { status, body } = await client.open(ENROLMENT)
    if (status !== 200) throw Object.assign(new Error(String(body.error)), body)
  }

  async function exchange(more: object): Promise<SyncAnswer> {
    const answer = await call('POST', paths.mirror, { ...memory, changes: [], seen: [], ...more })
    const { mirror, stamp } = answer as unknown as SyncAnswer // the proxy's own type
    memory = { mirror, stamp }
    return answer as unknown as SyncAnswer
  }

  const isRefused = (error: unknown, code: CloudCode) =>
    error instanceof Error && 'code' in error && error.code === code

  return {
    client,
    open,
    get memory() {
      return memory
    },
    /** Sends states to a mirror that is there, or is made now. */
    async enable(changes: MirrorState[]): Promise<SyncAnswer> {
      await exchange({ create: true })
      return exchange({ changes })
    },
    /** The same with a mirror that is there. */
    sync: (changes: MirrorState[]): Promise<SyncAnswer> =>
      exchange({ changes }).catch((error: unknown) => {
        if (!isRefused(error, 'HISTORY_DIVERGED')) throw error
        return exchange({ changes, full: true })
      }),
    disable: () => call('DELETE', paths.mirror),
  }
}
