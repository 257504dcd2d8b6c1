import {
  type CloudCode,
  paths,
  type RecordState,
  type SyncResponse,
} from '../../../src/features/cloud-sync/protocol.ts'
import type { Client } from './client.ts'
import { ENROLLMENT_TOKEN } from './proxy.ts'

/** Creates a gateway as the proxy sees it. It remembers the same data as a real gateway, and handles errors like one. */
export function createHome(client: Client) {
  let memory: { mirror: string | null; stamp: string | null } = { mirror: null, stamp: null }

  /** Opens another session if the proxy asks for one. Otherwise, rejects with the error code. */
  async function call(method: string, path: string, content?: object): Promise<Record<string, unknown>> {
    for (let attempts = 0; ; attempts++) {
      const { status, body } = await client.call(method, path, content)
      if (status === 200) return body
      if (body.code !== 'SESSION_INVALID' || attempts > 0) throw Object.assign(new Error(String(body.error)), body)
      await open()
    }
  }

  async function open(): Promise<void> {
    const { status, body } = await client.open(ENROLLMENT_TOKEN)
    if (status !== 200) throw Object.assign(new Error(String(body.error)), body)
  }

  async function exchange(extra: object): Promise<SyncResponse> {
    const response = await call('POST', paths.replica, { ...memory, changes: [], seen: [], ...extra })
    const { mirror, stamp } = response as unknown as SyncResponse // the type of the proxy's responses
    memory = { mirror, stamp }
    return response as unknown as SyncResponse
  }

  const isRefused = (error: unknown, code: CloudCode) =>
    error instanceof Error && 'code' in error && error.code === code

  return {
    client,
    open,
    get memory() {
      return memory
    },
    /** Sends states to a replica, creating it if needed. */
    async enable(changes: RecordState[]): Promise<SyncResponse> {
      await exchange({ create: true })
      return exchange({ changes })
    },
    /** Sends states to an existing replica. */
    sync: (changes: RecordState[]): Promise<SyncResponse> =>
      exchange({ changes }).catch((error: unknown) => {
        if (!isRefused(error, 'HISTORY_DIVERGED')) throw error
        return exchange({ changes, full: true })
      }),
    disable: () => call('DELETE', paths.replica),
  }
}
