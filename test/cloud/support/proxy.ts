import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { type CloudProxyOptions, createCloudProxy } from '../../../src/features/cloud-sync/proxy/proxy.ts'
import { plant, watchfulLogger } from '../../support/canaries.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import { assert } from '../../support/suite.ts'
import { type Client, createClient } from './client.ts'

export const ENROLLMENT_TOKEN = 'enrollment-token-with-forty-characters-1'
export const SECRET = 'secret-of-the-proxy-of-forty-characters-'

/** Opens a proxy on an in-memory storage, with gateways that are enrolled there. */
export function openProxy({
  clock = fakeClock(),
  ...options
}: Omit<Partial<CloudProxyOptions>, 'clock'> & { clock?: FakeClock } = {}) {
  plant(ENROLLMENT_TOKEN)
  plant(SECRET)
  const storage = options.storage ?? memoryStorage({ clock })
  const make = () =>
    createCloudProxy({
      clock,
      secret: SECRET,
      enrollmentToken: ENROLLMENT_TOKEN,
      logger: watchfulLogger(),
      ...options,
      storage,
    })
  let proxy = make()
  const server = { fetch: (request: Request) => proxy.fetch(request) }

  return {
    clock,
    storage,
    server,
    get proxy() {
      return proxy
    },
    current: () => proxy,
    /** Replaces the proxy with another process on the same storage, without closing the old one. */
    restart() {
      proxy = make()
    },
    async enrolled(): Promise<Client> {
      const client = await createClient(server)
      const { status, body } = await client.open(ENROLLMENT_TOKEN)
      assert.is(status, 200, JSON.stringify(body))
      return client
    },
  }
}
