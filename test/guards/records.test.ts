import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { CodeGuard } from '../../src/config/code-config.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/index.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { WORD, w } from './world.ts'

const test = suite('stored guards')

const words = { kind: 'words' as const, words: [WORD] as string[] }

/** Opens a gateway with one provider and the stored guard `word`. */
async function open(options: Partial<GatewayOptions> = {}, storage = memoryStorage()) {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const errors: unknown[] = []
  const gateway = createGateway({
    ...{ storage, fetch: upstream, logger: false },
    hooks: { onError: (error) => void errors.push(error) },
    connections: { one: { provider: 'one', apiKey: 'k', baseUrl: 'https://one.test/v1' } },
    ...options,
  })
  if (!options.guards) await gateway.api.guards.create({ name: 'word', ...words })
  const sendText = (content: string, { key, model = 'one/m', ...headers }: Record<string, string> = {}) =>
    gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }), ...headers },
      body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
    })
  return { gateway, api: gateway.api, upstream, errors, storage, say: sendText }
}

const getStatus = async (response: Promise<Response>) => (await response).status

async function assertRejects(call: Promise<unknown>, status: number, message: RegExp) {
  const error = await call.then(
    () => undefined,
    (error: Error & { status?: number }) => error,
  )
  assert.match(error?.message ?? 'nothing', message)
  assert.is(error?.status, status)
}

test('a guard only checks requests if the settings, a group, a key, or a combo lists it', async () => {
  const { api, say } = await open()
  assert.is(await getStatus(say(WORD)), 200)
  await api.combos.create({ name: 'strict', models: ['one/m'], guards: ['word'] })
  await api.combos.create({ name: 'outer', models: ['one/other', 'nick'] })
  await api.aliases.set({ alias: 'nick', model: 'strict' })
  for (const model of ['strict', 'outer', 'nick']) {
    assert.is(await getStatus(say(WORD, { model })), 400, model)
    assert.is(await getStatus(say('Hello', { model })), 200, model)
  }
  const group = await api.groups.create({ name: 'team', guards: ['word'] })
  const { key: grouped } = await api.keys.create({ name: 'grouped', group: group.id })
  const { key: own } = await api.keys.create({ name: 'own', guards: ['word'] })
  const { key: other } = await api.keys.create({ name: 'other' })
  assert.is(await getStatus(say(WORD, { key: grouped })), 400)
  assert.is(await getStatus(say(WORD, { key: own })), 400)
  assert.is(await getStatus(say(WORD, { key: other })), 200)
  await api.settings.update({ guards: ['word'] })
  assert.is(await getStatus(say(WORD)), 400)
  await api.settings.update({ guards: null })
  assert.is(await getStatus(say(WORD)), 200)
})

test("a key's guardsExcept excludes named guards, but not function guards", async () => {
  const { api, say } = await open()
  await api.settings.update({ guards: ['word'] })
  const { key, id } = await api.keys.create({ name: 'exempt', guardsExcept: ['word'] })
  assert.is(await getStatus(say(WORD, { key })), 200)
  assert.is(await getStatus(say(WORD, { key, 'x-signalbox-guards': 'word' })), 400)
  await api.keys.update(id, { guardsExcept: null })
  assert.is(await getStatus(say(WORD, { key })), 400)
  const inCode = await open({ guards: [w] })
  await inCode.api.guards.create({ name: 'w', ...words })
  const exempt = await inCode.api.keys.create({ name: 'exempt', guardsExcept: ['w'] })
  assert.is(await getStatus(inCode.say(WORD, { key: exempt.key })), 400)
})

test("a client can't turn off a guard", async () => {
  const { gateway, api } = await open()
  await api.settings.update({ guards: ['word'] })
  for (const extra of [{ guardrails: [] }, { guards: [] }, { metadata: { guardrails: '[]' } }]) {
    const response = await gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-signalbox-guards': '' },
      body: JSON.stringify({ model: 'one/m', messages: [{ role: 'user', content: WORD }], ...extra }),
    })
    assert.is(response.status, 400)
  }
})

test('a client can add a guard by name, and an unknown name is rejected', async () => {
  const { say, upstream, api } = await open()
  assert.is(await getStatus(say(WORD, { 'x-signalbox-guards': 'word' })), 400)
  assert.is(await getStatus(say('Hello', { 'x-signalbox-guards': 'word' })), 200)
  upstream.calls.length = 0
  for (const names of ['none', 'word, nothing']) {
    const response = await say('Hello', { 'x-signalbox-guards': names })
    assert.is(response.status, 400)
    assert.match((await response.json()).error.message, /x-signalbox-guards/)
  }
  assert.equal(upstream.calls, [])
  await assertRejects(api.guards.create({ name: 'none', ...words }), 400, /"name" must be/)
})

test('a guard runs once, even if several combos and a header list it', async () => {
  const { api, say, upstream } = await open({
    guards: { judge: { kind: 'judge', model: 'one/judge', policy: 'No secrets.' } },
    settings: { guards: ['judge'] },
  })
  await api.combos.create({ name: 'inner', models: ['one/a', 'one/b'], guards: ['judge'] })
  await api.combos.create({ name: 'outer', models: ['inner', 'one/c'], guards: ['judge'] })
  const countJudged = async (headers: Record<string, string>) => {
    upstream.calls.length = 0
    await say('Hello', headers)
    return upstream.calls.filter(({ body }) => JSON.parse(body).model === 'judge').length
  }
  assert.is(await countJudged({ model: 'outer', 'x-signalbox-guards': 'judge' }), 1)
  assert.is(await countJudged({ model: 'one/x', 'x-signalbox-models': 'inner, outer' }), 1)
})

test("combo guards apply if the combo is in a request's model list or is chosen by `route`", async () => {
  const { api, say } = await open()
  await api.combos.create({ name: 'strict', models: ['one/m'], guards: ['word'] })
  assert.is(await getStatus(say(WORD, { 'x-signalbox-models': 'one/m, strict' })), 400)
  const routed = await open({ route: () => 'strict' })
  await routed.api.combos.create({ name: 'strict', models: ['one/m'], guards: ['word'] })
  assert.is(await getStatus(routed.say(WORD)), 400)
  assert.is(await getStatus(routed.say('Hello')), 200)
})

test('a request gets a 503 if a required guard is missing, is invalid, or was tampered with', async () => {
  const storage = memoryStorage()
  const { api, upstream } = await open({}, storage)
  await api.settings.update({ guards: ['word'] })
  const before = await storage.get('guards/word')
  const { record, order } = JSON.parse(before?.value ?? '')
  for (const value of [JSON.stringify({ order, record: { ...record, words: ['other'] } }), undefined]) {
    if (value === undefined) await storage.delete('guards/word')
    else await storage.set('guards/word', value)
    const response = await (await open({ guards: [] }, storage)).say('Hello')
    assert.is(response.status, 503)
    assert.match((await response.json()).error.code, /guard_unavailable/)
  }
  assert.equal(upstream.calls, [])
  const invalid = await open({
    guards: { odd: { kind: 'judge', words: ['x'] } },
    settings: { guards: ['odd'] },
  })
  assert.is(await getStatus(invalid.say('Hello')), 503)
  const { guards } = await invalid.api.guards.list()
  assert.match(guards[0]?.error ?? '', /"words" is not an option of the kind "judge"/)
})

test('a guard accepts only options for its kind', async () => {
  const { api } = await open()
  await assertRejects(
    api.guards.create({ name: 'a', kind: 'words', words: ['x'], policy: 'No' }),
    400,
    /"policy" is not an option of the kind "words", which has "words", "action"/,
  )
  await assertRejects(api.guards.create({ name: 'a', kind: 'words' }), 400, /"words" is required/)
  await assertRejects(api.guards.create({ name: 'a', kind: 'other' as 'words' }), 400, /"kind"/)
  await assertRejects(api.guards.create({ name: 'word', ...words }), 400, /already the name/)
  await assertRejects(api.guards.update('word', { words: null }), 400, /"words" is required/)
  await assertRejects(api.guards.get('missing'), 404, /Guard not found/)
})

test('a guard change takes effect on the next request', async () => {
  const { api, say } = await open()
  await api.settings.update({ guards: ['word'] })
  assert.is(await getStatus(say('Hello')), 200)
  const updated = await api.guards.update('word', { words: ['hello'], message: 'Not here.' })
  assert.equal(updated.words, ['hello'])
  const response = await say('Hello')
  assert.is(response.status, 400)
  assert.match((await response.json()).error.message, /Not here/)
  await api.guards.put({ name: 'word', kind: 'words', mode: 'watch' })
  assert.is(await getStatus(say('Hello')), 200)
  const { mode, updatedAt } = await api.guards.get('word')
  assert.is(mode, 'watch')
  assert.is((await api.guards.put({ name: 'word', kind: 'words', mode: 'watch' })).updatedAt, updatedAt)
})

test('guards that change requests and guards that call a service can be stored', async () => {
  const upstream = fakeUpstream(({ provider, body }) =>
    provider === 'one'
      ? json(chatResponse())
      : json({ verdict: body.includes(WORD) ? 'refuse' : 'pass', category: 'service' }),
  )
  const { api, say } = await open({ fetch: upstream })
  const changing = { kind: 'change' as const, prepend: 'Be brief.\nBe kind.', max: { maxTokens: 100 } }
  assert.equal((await api.guards.create({ name: 'brief', ...changing })).max, { maxTokens: 100 })
  await api.guards.create({ name: 'service', kind: 'http', url: 'https://guard.test/check' })
  await api.settings.update({ guards: ['brief', 'service'] })
  assert.is(await getStatus(say('Hello')), 200)
  assert.equal(JSON.parse(upstream.calls.find(({ provider }) => provider === 'one')?.body ?? ''), {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.\nBe kind.' },
      { role: 'user', content: 'Hello' },
    ],
    max_completion_tokens: 100,
  })
  assert.is(await getStatus(say(WORD)), 400)
  await api.guards.update('brief', { prepend: 'Be long.', max: null })
  await say('Hello')
  assert.match(upstream.calls.findLast(({ provider }) => provider === 'one')?.body ?? '', /Be long/)
  const empty = api.guards.create({ name: 'a', kind: 'change' })
  await assertRejects(empty, 400, /needs "prepend", "append", "set", "max", or "providerHeaders"/)
  await assertRejects(api.guards.create({ name: 'a', kind: 'http', url: 'http://10.0.0.1/' }), 400, /private address/)
  await api.guards.create({ name: 'lines', kind: 'judge', model: 'one/m', policy: 'No secrets.\nNo code.' })
})

test("a guard in use can't be deleted, and only existing guards can be referenced", async () => {
  const { api } = await open()
  await assertRejects(api.settings.update({ guards: ['nothing'] }), 400, /there is no such guard/)
  await assertRejects(api.keys.create({ name: 'k', guardsExcept: ['nothing'] }), 400, /"guardsExcept" names/)
  await assertRejects(api.combos.create({ name: 'c', models: ['one/m'], guards: ['nothing'] }), 400, /such/)
  await assertRejects(api.groups.create({ name: 'g', guards: ['nothing'] }), 400, /there is no such guard/)
  await api.settings.update({ guards: ['word'] })
  await api.groups.create({ name: 'team', guards: ['word'] })
  await api.keys.create({ name: 'app', guardsExcept: ['word'] })
  await api.keys.create({ name: 'site', guards: ['word'] })
  await api.combos.create({ name: 'strict', models: ['one/m'], guards: ['word'] })
  await assertRejects(
    api.guards.delete('word'),
    400,
    /used by the settings, the group "team", the keys "app", "site", the combo "strict"/,
  )
})

test("guards defined in code are listed, and can't be changed through the API", async () => {
  const { api, say } = await open({
    guards: { w, plain: words, more: { kind: 'secrets' } },
    settings: { guards: ['more'] },
  })
  assert.equal(
    (await api.guards.list()).guards.map(({ name, kind, source }) => ({ name, kind, source })),
    [
      { name: 'plain', kind: 'words', source: 'code' },
      { name: 'more', kind: 'secrets', source: 'code' },
    ],
  )
  await assertRejects(api.guards.update('plain', { mode: 'watch' }), 409, /code/)
  await assertRejects(api.guards.delete('plain'), 409, /code/)
  assert.is(await getStatus(say(WORD)), 400, 'functions check every request')
  assert.throws(() => createGateway({ guards: { 'a b': words } }), /guards\.a b must be named/)
  assert.throws(() => createGateway({ guards: { x: w, w } }), /guards\[w\] needs its own "name"/)
})

test('reload replaces guard records defined in code, and keeps function guards', async () => {
  const { gateway, say } = await open({ guards: { plain: words }, settings: { guards: ['plain'] } })
  assert.is(await getStatus(say(WORD)), 400)
  const connections = { one: { provider: 'one', apiKey: 'k', baseUrl: 'https://one.test/v1' } }
  await gateway.reload({ connections, guards: { plain: { ...words, words: ['x'] } }, settings: { guards: ['plain'] } })
  assert.is(await getStatus(say(WORD)), 200)
  await gateway.reload({ connections, settings: { guards: ['plain'] } })
  assert.is(await getStatus(say(WORD)), 503)
  const functional = await open({ guards: [w] })
  await functional.gateway.reload({ connections })
  assert.is(await getStatus(functional.say(WORD)), 400)
})

test('text can be tested against stored guards and a draft guard', async () => {
  const { api } = await open()
  const text = `Open ${WORD}, write to ann@example.com`
  const { verdicts, text: changed } = await api.guards.test({
    text,
    guards: ['word'],
    guard: { name: 'draft', kind: 'pii', action: 'replace' },
  })
  assert.equal(
    verdicts.map(({ ms, ...one }) => one),
    [
      { name: 'word', verdict: 'refuse', category: 'word' },
      { name: 'draft', verdict: 'change' },
    ],
  )
  assert.is(changed, `Open ${WORD}, write to [EMAIL]`)
  await assertRejects(api.guards.test({ text, guards: ['missing'] }), 404, /Guard not found/)
  await assertRejects(api.guards.test({ text, guard: { name: 'a', kind: 'words' } }), 400, /"words" is/)
  const failed = await api.guards.test({ text, guard: { name: 'j', kind: 'judge', model: 'no/model', policy: 'No' } })
  assert.is(failed.verdicts[0]?.verdict, 'failed')
  assert.match(failed.verdicts[0]?.error ?? '', /404/)
})

test('requests to a combo with unreadable guards get a 503', async () => {
  for (const guards of ['word', {}, 5, null, [], [1], [null, 'word'], [['word']]]) {
    const { api, say, storage, upstream } = await open()
    await api.combos.create({ name: 'strict', models: ['one/m'], guards: ['word'] })
    await api.combos.create({ name: 'outer', models: ['one/x', 'strict'] })
    const before = await storage.get('combos/strict')
    const { record, order } = JSON.parse(before?.value ?? '')
    await storage.set('combos/strict', JSON.stringify({ order, record: { ...record, guards } }))
    for (const model of ['strict', 'outer']) assert.is(await getStatus(say(WORD, { model })), 503, `${guards}`)
    assert.equal(upstream.calls, [])
    await api.combos.update(record.id, { guards: ['word'] })
    assert.is(await getStatus(say(WORD, { model: 'strict' })), 400)
  }
})

test("a guard that is invalid or was tampered with can't be tested, and the error explains why", async () => {
  const { api, storage } = await open()
  const before = await storage.get('guards/word')
  const { record, order } = JSON.parse(before?.value ?? '')
  for (const change of [{ words: 'text' }, { kind: 'other' }, { mac: 5 }, { kind: undefined }]) {
    await storage.set('guards/word', JSON.stringify({ order, record: { ...record, ...change } }))
    await assertRejects(
      api.guards.test({ text: WORD, guards: ['word'] }),
      400,
      /guard "word" cannot be used.+Save it again with "kind"/,
    )
  }
  const invalid = await open({ guards: { odd: { kind: 'judge', words: ['x'] } } })
  await assertRejects(invalid.api.guards.test({ text: 'x', guards: ['odd'] }), 400, /"words" is not an option/)
})

test('an unreadable guard can be replaced', async () => {
  for (const value of ['not JSON', '{"order":1,"record":null}']) {
    const { api, storage, say } = await open()
    await api.settings.update({ guards: ['word'] })
    await storage.set('guards/word', value)
    assert.is(await getStatus(say('Hello')), 503)
    await assertRejects(api.guards.create({ name: 'word', ...words }), 400, /already the name/)
    assert.equal((await api.guards.put({ name: 'word', ...words })).words, [WORD])
    assert.is(await getStatus(say(WORD)), 400)
    assert.is(await getStatus(say('Hello')), 200)
  }
})

test('thresholds reject unsafe field names such as __proto__', async () => {
  const { api } = await open()
  const moderation = { name: 'm', kind: 'moderation' as const, model: 'one/m' }
  for (const name of ['__proto__', 'constructor', 'prototype']) {
    const thresholds: Record<string, number> = JSON.parse(`{"violence":1,"${name}":0.5}`)
    await assertRejects(api.guards.create({ ...moderation, thresholds }), 400, /"thresholds" has an invalid field name/)
  }
})

test('guards defined in code are validated at startup and on reload', async () => {
  const { gateway, errors, say } = await open({
    guards: {
      odd: { kind: 'judge', words: ['x'] } as CodeGuard,
      empty: { kind: 'words', words: ['*'] },
      good: words,
    },
    settings: { guards: ['odd'] },
  })
  assert.is(await getStatus(say('Hello')), 503)
  const found = errors.map((error) => (error as Error).message)
  assert.ok(
    found.some((message) => /guards\.odd: "words" is not an option of the kind "judge"/.test(message)),
    `${found}`,
  )
  assert.ok(
    found.some((message) => /guards\.empty: .+words\[0\] has no visible characters/.test(message)),
    `${found}`,
  )
  assert.not.match(`${found}`, /guards\.good/)
  const reloaded = await gateway.reload({ guards: { odd: { kind: 'words' } as CodeGuard } }).then(
    () => 'nothing',
    (error: unknown) => String(error),
  )
  assert.match(reloaded, /TypeError: guards\.odd: "words" is required for the kind "words"/)
  assert.is(await getStatus(say('Hello')), 503)
})

test('a guard test without a guard is rejected', async () => {
  const { api } = await open()
  await assertRejects(api.guards.test({ text: WORD }), 400, /Send "guards" or "guard"/)
})

test('a guard that could never match anything is rejected', async () => {
  const { create } = (await open()).api.guards
  for (const word of ['*', '**', '\u200b', '* *'])
    await assertRejects(create({ name: 'a', ...words, words: ['x', word] }), 400, /"words\[1\]" has no visible/)
  await assertRejects(create({ name: 'a', kind: 'size' }), 400, /needs "maxCharacters", "maxTurns"/)
  await assertRejects(create({ name: 'a', kind: 'tools', hosted: 'pass' }), 400, /needs "allow", "deny"/)
  await create({ name: 'a', kind: 'size', media: 'refuse' })
  await create({ name: 'b', kind: 'tools', hosted: 'refuse' })
})

test("5,000 guards that don't apply to a request make it less than five times as slow", async () => {
  const measure = async (count: number) => {
    const guards = Object.fromEntries(Array.from({ length: count }, (_, index) => [`g${index}`, words]))
    const { say } = await open({ guards, settings: { guards: ['g0'] } })
    await (await say('Hello')).text()
    const startedAt = process.cpuUsage().user
    for (let round = 0; round < 50; round++) await (await say('Hello')).text()
    return process.cpuUsage().user - startedAt
  }
  await measure(1)
  const [few, many] = [await measure(1), await measure(5_000)]
  assert.ok(many < 5 * few, `${few} and ${many} microseconds`)
})
