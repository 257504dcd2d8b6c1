import { setTimeout as sleep } from 'node:timers/promises'
import { fileStorage } from '../../adapters/storage/file.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { chatAnswer } from '../pipeline/support/answers.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { catalog, token } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { temporaryFolder } from './support/folder.ts'
import { type Release, release } from './support/release.ts'

/** The last state before several stores, and the first one whose records had no proof yet. */
const BEFORE_STORES = 'ccf378e530d01ad8ceb8a1e5592ecf89f99040ad'
const WITHOUT_PROOFS = '1865a586219619b750d16084b7f9ceacd43607a4'

const test = suite('gateways of two releases on one store')
const now = { createGateway, fileStorage }

/** Opens a gateway of a release on a folder; `secret` as the host has it. */
function open({ createGateway, fileStorage }: Release, path: string, secret?: string) {
  const up = fakeUpstream(() => json(chatAnswer()))
  const storage = fileStorage({ path, logger: false })
  const gateway = createGateway({
    storage,
    catalog,
    fetch: up,
    logger: false,
    management: { token },
    ...(secret !== undefined && { secret }),
  })
  const close = async () => {
    await gateway.close()
    await storage.close?.()
  }
  return { gateway, storage, up, close }
}

async function status(gateway: Gateway, model: string, key?: string): Promise<number> {
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { 'x-api-key': key }) }
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] })
  const response = await gateway.fetch(
    new Request('http://gateway/v1/chat/completions', { method: 'POST', headers, body }),
  )
  await response.text()
  return response.status
}

/** Waits until a gateway answers so: the file store tells others of changes within 100 ms. */
async function until(expected: number, ask: () => Promise<number>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if ((await ask()) === expected) return
    await sleep(20)
  }
  assert.is(await ask(), expected)
}

for (const secret of [undefined, 'a secret of at least 32 characters'])
  test(`the release before and this one serve the same keys and see the changes of each other, with ${secret ? 'a secret' : "the store's own secret"}`, async () => {
    const { path, remove } = await temporaryFolder()
    const old = open(await release(BEFORE_STORES), path, secret)
    await old.gateway.api.connections.create({ provider: 'one', apiKey: 'sk-one-of-the-tests' })
    const made = await old.gateway.api.keys.create({ name: 'made by the old one' })
    await old.gateway.api.combos.create({ name: 'old-combo', models: ['one/m'] })
    await old.gateway.api.settings.update({ requireApiKey: true })
    const fresh = open(now, path, secret)
    const both = [old, fresh]
    const own = await fresh.gateway.api.keys.create({ name: 'made by the new one' })
    await fresh.gateway.api.combos.create({ name: 'new-combo', models: ['one/m'] })
    for (const { gateway, up } of both)
      for (const { key } of [made, own])
        for (const model of ['one/m', 'old-combo', 'new-combo']) {
          await until(200, () => status(gateway, model, key))
          assert.is(up.calls.at(-1)?.headers.get('authorization'), 'Bearer sk-one-of-the-tests')
        }
    for (const [by, other] of [both, both.toReversed()] as Array<[typeof old, typeof old]>) {
      for (const { key, id } of [made, own]) {
        await by.gateway.api.keys.update(id, { isActive: false })
        for (const { gateway } of both) await until(403, () => status(gateway, 'one/m', key))
        await other.gateway.api.keys.update(id, { isActive: true })
        for (const { gateway } of both) await until(200, () => status(gateway, 'one/m', key))
      }
      await by.gateway.api.settings.update({ requireApiKey: false })
      for (const { gateway } of both) await until(200, () => status(gateway, 'one/m'))
      await other.gateway.api.settings.update({ requireApiKey: true })
      for (const { gateway } of both) await until(401, () => status(gateway, 'one/m'))
    }
    const [connection] = await fresh.storage.list('connections/')
    const { order, record } = JSON.parse(connection?.value ?? '')
    await fresh.storage.set(connection?.key ?? '', JSON.stringify({ order, record: { ...record, later: { a: 1 } } }))
    await sleep(200)
    for (const { gateway } of both) await gateway.api.connections.update(record.id, { name: `by ${both.length}` })
    assert.equal(JSON.parse((await fresh.storage.get(connection?.key ?? ''))?.value ?? '').record.later, { a: 1 })
    for (const { close } of both) await close()
    const again = open(await release(BEFORE_STORES), path, secret) // a way back
    for (const { key } of [made, own]) assert.is(await status(again.gateway, 'new-combo', key), 200)
    await again.close()
    await remove()
  })

test('a store of a release without proofs is taken over; the old release neither opens the gate nor changes records when it is started again', async () => {
  const { path, remove } = await temporaryFolder()
  const without = await release(WITHOUT_PROOFS)
  const old = open(without, path)
  await old.gateway.api.connections.create({ provider: 'one', apiKey: 'sk-one-of-the-tests' })
  const { key } = await old.gateway.api.keys.create({ name: 'active' })
  const paused = await old.gateway.api.keys.create({ name: 'paused' })
  await old.gateway.api.keys.update(paused.id, { isActive: false })
  await old.gateway.api.settings.update({ requireApiKey: true })
  assert.is(await status(old.gateway, 'one/m', key), 200)
  const fresh = open(now, path)
  assert.is(await status(fresh.gateway, 'one/m', key), 200)
  assert.is(await status(fresh.gateway, 'one/m', paused.key), 403)
  assert.is(await status(fresh.gateway, 'one/m'), 401)
  await until(500, () => status(old.gateway, 'one/m', key)) // it cannot open the credential any more
  for (const credential of [paused.key, undefined]) assert.ok((await status(old.gateway, 'one/m', credential)) >= 400)
  await old.close()
  const texts = async () => (await fresh.storage.list('')).map(({ key, value }) => [key, value])
  const before = await texts()
  const again = open(without, path)
  for (const credential of [key, paused.key]) assert.is(await status(again.gateway, 'one/m', credential), 500)
  assert.is(await again.gateway.api.keys.create({ name: 'late' }).catch(() => 'refused'), 'refused')
  assert.equal(await texts(), before)
  await again.close()
  assert.is(await status(fresh.gateway, 'one/m', key), 200)
  await fresh.close()
  await remove()
})
