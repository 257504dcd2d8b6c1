import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createDocuments } from '../../src/cloud/documents.ts'
import { requireKey } from '../../src/cloud/front.ts'
import { createMirrors } from '../../src/cloud/mirrors.ts'
import { createScopes } from '../../src/cloud/scope.ts'
import { createTenants } from '../../src/cloud/tenants.ts'
import { createGatewayWith, NO_STEPS } from '../../src/gateway.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the gateways of tenants in memory')

/** Tenants with a mirror each, of which two are kept. */
async function openWorld(ids: string[]) {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const scopes = createScopes(storage)
  const mirrors = createMirrors({ documents: createDocuments(storage), scopes, clock, maxAgeMs: 1_000 })
  const closed: string[] = []
  const tenants = createTenants({
    scopes,
    mirrors,
    maxOpen: 2,
    makeGateway(scope) {
      const steps = { ...NO_STEPS, afterKey: [requireKey] }
      const made = createGatewayWith({ storage: scope, clock, logger: false }, steps)
      const { close } = made.gateway
      const name = `gateway ${++count}`
      const closing = () => {
        closed.push(name)
        return close()
      }
      return { ...made, gateway: Object.assign(made.gateway, { close: closing }) }
    },
  })
  let count = 0
  const at = '2026-01-01T00:00:00.000Z'
  const mirror = (id: string) => ({ id, current: id, previous: null, createdAt: at, lastSyncAt: at })
  for (const id of ids) await mirrors.change(id, () => mirror(`${id}1`))
  return { tenants, mirrors, mirror, closed, clock }
}

test('the gateways of tenants are made once, and the one that was not used for longest is closed', async () => {
  const { tenants, closed } = await openWorld(['a', 'b', 'c'])
  const a = await tenants.open('a')
  const b = await tenants.open('b')
  assert.is(await tenants.open('a'), a)
  await tenants.open('c')
  assert.equal(closed, ['gateway 2'])
  assert.is.not(await tenants.open('b'), b)
})

test('the gateways of tenants are others for another mirror of the tenant, and none without a mirror', async () => {
  const { tenants, mirrors, mirror, closed } = await openWorld(['a'])
  const first = await tenants.open('a')
  await mirrors.change('a', () => mirror('a2'))
  const second = await tenants.open('a')
  assert.equal([first?.mirror, second?.mirror], ['a1', 'a2'])
  await mirrors.change('a', (stored) => stored && { ...stored, isEnding: true })
  assert.is(await tenants.open('a'), undefined)
  assert.is(await tenants.open('b'), undefined)
  assert.equal(closed, ['gateway 1', 'gateway 2'])
})

test('the gateways of tenants are all closed with the proxy', async () => {
  const { tenants, closed } = await openWorld(['a', 'b'])
  await tenants.open('a')
  await tenants.open('b')
  await tenants.close({})
  assert.equal(closed.toSorted(), ['gateway 1', 'gateway 2'])
})
