import { memoryStorage } from '../../../adapters/storage/memory.ts'
import type { GatewayOptions } from '../../../src/options.ts'
import type { Storage } from '../../../src/types.ts'
import { openManagement } from '../../management/open-management.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import { ENROLLMENT_TOKEN, openProxy } from './proxy.ts'

export const CLOUD = 'https://cloud.example'

interface Ends {
  home?: Partial<GatewayOptions>
  cloud?: NonNullable<Parameters<typeof openProxy>[0]>
}

/** Opens a connected gateway and proxy whose clocks are an hour apart. */
export function openBothEnds({ home = {}, cloud = {} }: Ends = {}) {
  const far = openProxy(cloud)
  const storage: Storage = home.storage ?? memoryStorage()
  const clock: FakeClock = fakeClock(far.clock.now() + 3_600_000)
  let isCut = false
  let open = 0 // the number of pending calls to the proxy
  const calls: string[] = []

  async function way(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init)
    if (!request.url.startsWith(CLOUD)) throw new TypeError(`fetch failed: nothing is at ${request.url}`)
    calls.push(`${request.method} ${new URL(request.url).pathname}`)
    if (isCut) throw new TypeError('fetch failed')
    open++
    return far.proxy.fetch(request).finally(() => {
      open--
    })
  }

  /** Starts another process of the gateway on the same data. */
  const start = (extra: Partial<GatewayOptions> = {}) =>
    openManagement({ storage, clock, fetch: way, cloud: { enrollmentToken: ENROLLMENT_TOKEN }, ...home, ...extra })

  const first = start()
  const { api } = first.gateway

  return {
    ...first,
    api,
    clock,
    storage,
    far,
    calls,
    start,
    /** Sets the proxy's URL and enables cloud sync. */
    async enable() {
      await api.settings.update({ cloudUrl: CLOUD })
      return api.cloud.enable()
    },
    /** Blocks all messages from now on, or lets them through again. */
    cut(isNow = true) {
      isCut = isNow
    },
    /** Returns the proxy's status for `GET /v1/models` with a key. */
    async atCloud(key: string): Promise<number> {
      const headers = { authorization: `Bearer ${key}` }
      return (await far.proxy.fetch(new Request(`${CLOUD}/v1/models`, { headers }))).status
    },
    /** Returns the operations of the proxy's only tenant. */
    async tenant() {
      const { tenants } = await far.proxy.tenants.list()
      return far.proxy.tenant(tenants[0]?.id ?? '').api
    },
    /** Advances both clocks by this time, and waits for the gateway's automatic syncs. */
    async after(ms: number) {
      const step = ms > 10_000 ? 5_000 : 250
      for (let left = ms; left > 0; left -= step) {
        await Promise.all([clock.advance(Math.min(step, left)), far.clock.advance(Math.min(step, left))])
        for (let busy = 0; busy < 100 && open > 0; busy++) await runTurns(1)
        await runTurns(4)
      }
    },
  }
}

/** Waits for work that doesn't use timers, such as cryptography on other threads. */
export async function runTurns(count = 15) {
  for (let left = count; left > 0; left--) await new Promise((resolve) => setTimeout(resolve))
}
