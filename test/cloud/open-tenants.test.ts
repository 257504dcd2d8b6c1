import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createDocuments } from '../../src/features/cloud-sync/proxy/documents.ts'
import { requireKey } from '../../src/features/cloud-sync/proxy/front.ts'
import { createReplicaRecords } from '../../src/features/cloud-sync/proxy/replica-records.ts'
import { createScopes } from '../../src/features/cloud-sync/proxy/tenant-scope.ts'
import { createTenants } from '../../src/features/cloud-sync/proxy/tenants.ts'
import { createGatewayWith } from '../../src/gateway.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('open tenant gateways')

/** Creates tenants with a replica each, and opens two of them. */
async function openWorld(ids: string[]) {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const scopes = createScopes(storage)
  const replicas = createReplicaRecords({ documents: createDocuments(storage), scopes, clock, maxAgeMs: 1_000 })
  const closed: string[] = []
  const tenants = createTenants({
    scopes,
    replicas,
    maxOpen: 2,
    createGateway(scope) {
      const created = createGatewayWith({ storage: scope, clock, logger: false }, { onCallerIdentified: requireKey })
      const { close } = created.gateway
      const name = `gateway ${++count}`
      const closing = () => {
        closed.push(name)
        return close()
      }
      return { ...created, gateway: Object.assign(created.gateway, { close: closing }) }
    },
  })
  let count = 0
  const at = '2026-01-01T00:00:00.000Z'
  const createRecord = (id: string) => ({ id, current: id, previous: null, createdAt: at, lastSyncAt: at })
  for (const id of ids) await replicas.update(id, () => createRecord(`${id}1`))
  return { tenants, replicas, createRecord, closed, clock }
}

test('each tenant gets one gateway, and the least recently used one is closed if too many are open', async () => {
  const { tenants, closed } = await openWorld(['a', 'b', 'c'])
  const a = await tenants.open('a')
  const b = await tenants.open('b')
  assert.is(await tenants.open('a'), a)
  await tenants.open('c')
  assert.equal(closed, ['gateway 2'])
  assert.is.not(await tenants.open('b'), b)
})

test('a new replica gets a new gateway, and a tenant without a replica has none', async () => {
  const { tenants, replicas, createRecord, closed } = await openWorld(['a'])
  const first = await tenants.open('a')
  await replicas.update('a', () => createRecord('a2'))
  const second = await tenants.open('a')
  assert.equal([first?.replicaId, second?.replicaId], ['a1', 'a2'])
  await replicas.update('a', (stored) => stored && { ...stored, isEnding: true })
  assert.is(await tenants.open('a'), undefined)
  assert.is(await tenants.open('b'), undefined)
  assert.equal(closed, ['gateway 1', 'gateway 2'])
})

test('all gateways close with the proxy', async () => {
  const { tenants, closed } = await openWorld(['a', 'b'])
  await tenants.open('a')
  await tenants.open('b')
  await tenants.close({})
  assert.equal(closed.toSorted(), ['gateway 1', 'gateway 2'])
})
