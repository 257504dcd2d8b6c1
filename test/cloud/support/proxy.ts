import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { type CloudProxyOptions, createCloudProxy } from '../../../src/cloud/proxy.ts'
import { plant, watchfulLogger } from '../../support/canaries.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import { assert } from '../../support/suite.ts'
import { type Client, createClient } from './client.ts'

export const ENROLMENT = 'enrolment-credential-of-forty-characters'
export const SECRET = 'secret-of-the-proxy-of-forty-characters-'

/** A proxy on a storage in memory, and gateways that have enrolled there. */
export function openProxy({
  clock = fakeClock(),
  ...options
}: Omit<Partial<CloudProxyOptions>, 'clock'> & { clock?: FakeClock } = {}) {
  plant(ENROLMENT)
  plant(SECRET)
  const storage = options.storage ?? memoryStorage({ clock })
  const make = () =>
    createCloudProxy({ clock, secret: SECRET, enrolment: ENROLMENT, logger: watchfulLogger(), ...options, storage })
  let proxy = make()
  const door = { fetch: (request: Request) => proxy.fetch(request) }

  return {
    clock,
    storage,
    door,
    get proxy() {
      return proxy
    },
    current: () => proxy,
    /** Another process on the same storage in place of the one before, which is dropped as it is. */
    restart() {
      proxy = make()
    },
    async enrolled(): Promise<Client> {
      const client = await createClient(door)
      const { status, body } = await client.open(ENROLMENT)
      assert.is(status, 200, JSON.stringify(body))
      return client
    },
  }
}
