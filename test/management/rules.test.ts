import { memoryStorage } from '../../adapters/storage/memory.ts'
import { assert, suite } from '../support/suite.ts'
import { defaultRules, openManagement } from './open-management.ts'

const test = suite('request rules in settings and combos')

const readRules = ({ health, maxAttempts, timeouts }: typeof defaultRules) => ({ health, maxAttempts, timeouts })

test("the settings show the effective rules, which default to the gateway's limits", async () => {
  const { expect } = openManagement({ limits: { maxAttempts: 4, idleTimeoutMs: 7_000 } })
  assert.equal(readRules(await expect(200, 'GET', '/api/settings')), {
    health: defaultRules.health,
    maxAttempts: 4,
    timeouts: { ...defaultRules.timeouts, idleMs: 7_000 },
  })
})

test('a settings patch changes rules field by field, and null restores the default', async () => {
  const { expect } = openManagement()
  const patchRules = async (change: object) => readRules(await expect(200, 'PATCH', '/api/settings', change))
  const { health, timeouts } = defaultRules
  assert.equal(await patchRules({ health: { minCalls: 20 }, maxAttempts: 2 }), {
    ...defaultRules,
    health: { ...health, minCalls: 20 },
    maxAttempts: 2,
  })
  const both = { ...health, minCalls: 20, failureShare: 0.25 }
  assert.equal((await patchRules({ health: { failureShare: 0.25 } })).health, both)
  assert.equal((await patchRules({ timeouts: { idleMs: 5_000, totalMs: 9_000 } })).timeouts, {
    ...timeouts,
    idleMs: 5_000,
    totalMs: 9_000,
  })
  assert.equal(readRules(await expect(200, 'GET', '/api/settings')).health, both)
  assert.equal((await patchRules({ health: { minCalls: null } })).health, { ...health, failureShare: 0.25 })
  assert.equal(
    await patchRules({ health: null, maxAttempts: null, timeouts: { idleMs: null, totalMs: null } }),
    defaultRules,
  )
})

test('rules survive a change to another setting, and a restart', async () => {
  const storage = memoryStorage()
  const { expect } = openManagement({ storage })
  await expect(200, 'PATCH', '/api/settings', { maxAttempts: 2, health: { minCalls: 9 } })
  await expect(200, 'PATCH', '/api/settings', { requireApiKey: true })
  const { maxAttempts, health, requireApiKey } = await openManagement({ storage }).expect(200, 'GET', '/api/settings')
  assert.equal(
    { maxAttempts, minCalls: health.minCalls, requireApiKey },
    { maxAttempts: 2, minCalls: 9, requireApiKey: true },
  )
})

test('ignores stored rules that no release would have written', async () => {
  const storage = memoryStorage()
  const first = openManagement({ storage })
  await first.expect(200, 'PATCH', '/api/settings', { maxAttempts: 2 })
  const stored: unknown = JSON.parse((await storage.get('settings'))?.value ?? '{}')
  const odd = {
    ...Object(stored),
    maxAttempts: 'many',
    health: { minCalls: -1, windowMs: 5_000, more: 1 },
    timeouts: [],
  }
  await storage.set('settings', JSON.stringify(odd))
  const shown = await openManagement({ storage }).expect(200, 'GET', '/api/settings')
  assert.equal(readRules(shown), { ...defaultRules, health: { ...defaultRules.health, windowMs: 5_000 } })
})

test('a combo update replaces each rule as a whole, or removes it with null', async () => {
  const { expect } = openManagement()
  const rules = { health: { minCalls: 3 }, maxAttempts: 5, timeouts: { headersMs: 4_000 } }
  const { id, ...created } = await expect(201, 'POST', '/api/combos', { name: 'own', models: ['x/y'], ...rules })
  assert.equal(readRules(created), rules)
  const path = `/api/combos/${id}`
  const changed = await expect(200, 'PUT', path, { health: { cooldownMs: 1_000 }, maxAttempts: null })
  assert.equal(readRules(changed), { health: { cooldownMs: 1_000 }, maxAttempts: undefined, timeouts: rules.timeouts })
  assert.equal(readRules(await expect(200, 'PUT', path, { name: 'own' })), readRules(changed))
  const bare = await expect(200, 'PUT', path, { health: null, timeouts: null })
  assert.equal(
    ['health', 'maxAttempts', 'timeouts'].filter((name) => name in bare),
    [],
  )
})

const MS = 'must be a whole number from 1 to 86400000'
const refusals: Array<[body: object, error: string]> = [
  [{ health: [] }, '"health" must be an object'],
  [{ health: 5 }, '"health" must be an object'],
  [{ health: { failureShare: 0 } }, '"health.failureShare" must be a number above 0 and up to 1'],
  [{ health: { failureShare: 1.5 } }, '"health.failureShare" must be a number above 0 and up to 1'],
  [{ health: { failureShare: '0.5' } }, '"health.failureShare" must be a number above 0 and up to 1'],
  [{ health: { windowMs: 999 } }, '"health.windowMs" must be a whole number from 1000 to 3600000'],
  [{ health: { minCalls: 0 } }, '"health.minCalls" must be a whole number from 1 to 10000'],
  [{ health: { minCalls: 1.5 } }, '"health.minCalls" must be a whole number from 1 to 10000'],
  [{ health: { cooldownMs: 0 } }, `"health.cooldownMs" ${MS}`],
  [{ health: { maxCooldownMs: 1e12 } }, `"health.maxCooldownMs" ${MS}`],
  [{ health: { minCall: 3 } }, 'Unknown field "health.minCall". Did you mean "minCalls"?'],
  [{ minCalls: 3 }, 'Unknown field "minCalls". It belongs in "health".'],
  [{ idleMs: 3 }, 'Unknown field "idleMs". It belongs in "timeouts".'],
  [{ maxAttempts: 0 }, '"maxAttempts" must be a whole number from 1 to 100'],
  [{ maxAttempts: 101 }, '"maxAttempts" must be a whole number from 1 to 100'],
  [{ maxAttempts: '3' }, '"maxAttempts" must be a whole number from 1 to 100'],
  [{ timeouts: { idleMs: -1 } }, `"timeouts.idleMs" ${MS}`],
  [{ timeouts: { totalMs: 1.5 } }, `"timeouts.totalMs" ${MS}`],
  [{ timeouts: { headersMs: '1' } }, `"timeouts.headersMs" ${MS}`],
]
for (const [rules, error] of refusals)
  test(`the settings and combos reject ${JSON.stringify(rules)}`, async () => {
    const { expectError, expect } = openManagement()
    await expectError(400, error, ['PATCH', '/api/settings', rules])
    assert.equal(readRules(await expect(200, 'GET', '/api/settings')), defaultRules)
    await expectError(400, error, ['POST', '/api/combos', { name: 'own', models: [], ...rules }])
    const { id } = await expect(201, 'POST', '/api/combos', { name: 'own', models: [] })
    await expectError(400, error, ['PUT', `/api/combos/${id}`, rules])
  })

test('rejects a first cooldown that exceeds the maximum, including the default maximum', async () => {
  const { expectError } = openManagement()
  const health = { cooldownMs: 2_000, maxCooldownMs: 1_000 }
  const inSettings = '"health.cooldownMs" must not be above "health.maxCooldownMs": '
  await expectError(400, `${inSettings}2000, 1000`, ['PATCH', '/api/settings', { health }])
  await expectError(400, `${inSettings}400000, 300000`, ['PATCH', '/api/settings', { health: { cooldownMs: 400_000 } }])
  const inCombo = '"health" must not have a "cooldownMs" above its "maxCooldownMs"'
  await expectError(400, inCombo, ['POST', '/api/combos', { name: 'own', models: [], health }])
})
