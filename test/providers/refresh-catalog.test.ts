import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diffModels, renderCatalog } from '../../src/cli/catalog/catalog-file.ts'
import type { Selection } from '../../src/features/catalog/selection.ts'
import { selectModels } from '../../src/features/catalog/source.ts'
import { modelSources, models } from '../../src/protocols/providers/catalog.data.ts'
import type { Kind } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('refreshing the catalog')

const text = { input: ['text'], output: ['text'] }
const model = (id: string, extra: object = {}) => ({
  [id]: { id, release_date: '2026-10-01', modalities: text, limit: { context: 1000, output: 100 }, ...extra },
})
const select = (list: object, selection: Partial<Selection> = {}, kinds: Kind[] = ['llm']) => {
  const problems: string[] = []
  const source = { acme: { models: list } }
  const chosen = selectModels(source, { from: 'acme', ...selection }, { kinds, asOf: '2026-11-21', problems })
  return { ids: chosen.map(({ id }) => id), chosen, problems }
}

test('refreshing the catalog copies limits and prices', () => {
  const cost = { input: 3, output: 15, cache_read: 0.29999999999999993, cache_write: 3.75 }
  assert.equal(select(model('large', { cost })).chosen, [
    {
      id: 'large',
      contextWindow: 1000,
      maxOutputTokens: 100,
      price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    },
  ])
})

test('refreshing the catalog treats a price of zero as unknown unless the model is declared free', () => {
  const list = model('large', { cost: { input: 0, output: 0, cache_read: 0 } })
  assert.is(select(list).chosen[0]?.price, undefined)
  assert.equal(select(list, { freeModels: /^large$/ }).chosen[0]?.price, { input: 0, output: 0 })
})

test('refreshing the catalog omits a price that varies', () => {
  const list = { ...model('fixed', { cost: { input: 1 } }), ...model('floating', { cost: { input: 1 } }) }
  const prices = select(list, { pricedModels: /^fixed$/ }).chosen.map(({ price }) => price)
  assert.equal(prices, [{ input: 1 }, undefined])
})

test("refreshing the catalog distinguishes kinds, and omits models that the provider doesn't serve", () => {
  const list = {
    ...model('chat'),
    ...model('paint', { modalities: { input: ['text'], output: ['image'] } }),
    ...model('say', { modalities: { input: ['text'], output: ['audio'] } }),
    ...model('hear', { modalities: { input: ['audio'], output: ['text'] } }),
    ...model('text-embed'),
    ...model('read-ocr'),
    ...model('film', { modalities: { input: ['text'], output: ['video'] } }),
    ...model('rerank'),
  }
  const all: Kind[] = ['llm', 'image', 'tts', 'stt', 'embedding', 'imageToText']
  assert.equal(
    select(list, {}, all).chosen.map(({ id, type }) => [id, type]),
    [
      ['chat', undefined],
      ['read-ocr', 'imageToText'],
      ['paint', 'image'],
      ['say', 'tts'],
      ['hear', 'stt'],
      ['text-embed', 'embedding'],
    ],
  )
  assert.equal(select(list).ids, ['chat'])
})

test('refreshing the catalog selects current models by age, ID, and tool support, newest first', () => {
  const list = {
    ...model('old', { release_date: '2025-01', tool_call: true }),
    ...model('older', { release_date: '2024-01' }),
    ...model('new', { release_date: '2026-11-01', tool_call: true }),
    ...model('recent', { tool_call: true }),
    ...model('dumb'),
    ...model('beta-x', { tool_call: true }),
    ...model('gone', { status: 'deprecated', tool_call: true }),
  }
  const selection = { months: 6, tools: true, drop: /^beta/, always: ['older', 'gone'] } as const
  assert.equal(select(list, selection).ids, ['new', 'recent', 'older'])
  assert.equal(select(list, { keep: /^(?:new|gone)$/ }).ids, ['new'])
})

const malformed: Record<string, [entry: object, problem: string]> = {
  'a limit that is a string': [{ limit: { context: '1k' } }, 'limit.context "1k" is not a number from 0'],
  'no limit': [{ limit: undefined }, 'limit is missing'],
  'a negative price': [{ cost: { input: -1 } }, 'cost.input -1 is not a number from 0'],
  'no date': [{ release_date: undefined }, 'release_date undefined is not a date'],
  'no output': [{ modalities: { input: ['text'] } }, 'modalities.output is not a list of words'],
  'an ID that differs from its key': [{ id: 'small' }, 'its id is "small"'],
}
for (const [label, [entry, problem]] of Object.entries(malformed)) {
  test(`refreshing the catalog reports an entry with ${label}`, () => {
    assert.equal(select(model('large', entry)), { ids: [], chosen: [], problems: [`acme/large: ${problem}`] })
  })
}

test('refreshing the catalog reports a provider that the source no longer contains', () => {
  assert.match(select({}, { from: 'other' }).problems[0] ?? '', /^other: the source has no such provider/)
})

test('refreshing the catalog reports the changes', () => {
  const before = { acme: { source: 's', models: [{ id: 'a', price: { input: 1 } }, { id: 'b' }] } }
  const after = { acme: { source: 't', models: [{ id: 'a', price: { input: 2 }, contextWindow: 5 }, { id: 'c' }] } }
  assert.equal(diffModels(before, after), [
    '+ acme/c',
    '- acme/b',
    '~ acme/a price.input 1 -> 2',
    '~ acme/a contextWindow unknown -> 5',
  ])
  assert.equal(diffModels(after, after), [])
})

test('refreshing the catalog writes a module with its sources and one model per line', () => {
  const written = renderCatalog({ 'a-b': { source: "it's", models: [{ id: 'x', price: { input: 0.5 } }] } })
  assert.ok(written.includes("  'a-b': 'it\\'s',\n"))
  assert.ok(written.includes("  'a-b': [\n    { id: 'x', price: { input: 0.5 } },\n  ],\n"))
})

test('the catalog data file matches the output of the refresh script', async () => {
  const entries = Object.entries(models).map(([id, list]) => [id, { source: modelSources[id] ?? '', models: list }])
  const file = await readFile(new URL('../../src/protocols/providers/catalog.data.ts', import.meta.url), 'utf8')
  assert.is(file, renderCatalog(Object.fromEntries(entries)))
})

/** Runs the script on a source with one provider. Returns its exit code, its output, and the written file. */
async function run(source: object | string, only: string) {
  const folder = await mkdtemp(join(tmpdir(), 'catalog-'))
  const [from, out] = [join(folder, 'api.json'), join(folder, 'catalog.data.ts')]
  await writeFile(from, typeof source === 'string' ? source : JSON.stringify(source))
  await writeFile(out, 'before')
  const script = new URL('../../src/cli/catalog/refresh.ts', import.meta.url).pathname
  const args = [script, '--from', from, '--out', out, '--only', only, '--as-of', '2026-11-21']
  const { code, output } = await new Promise<{ code: number; output: string }>((resolve) => {
    execFile(process.execPath, args, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    )
  })
  const written = await readFile(out, 'utf8')
  await rm(folder, { recursive: true })
  return { code, output, written }
}

test("refreshing one provider doesn't change the others, and prints the changes", async () => {
  const { code, output, written } = await run({ deepseek: { models: model('deepseek-next') } }, 'deepseek')
  assert.is(code, 0, output)
  assert.match(output, '+ deepseek/deepseek-next\n')
  assert.match(written, "  deepseek: 'https://models.dev, 2026-11-21',\n")
  assert.match(written, "{ id: 'deepseek-next', contextWindow: 1000, maxOutputTokens: 100 },\n")
  assert.match(written, "id: 'claude-opus-5-5'")
})

test('refreshing the catalog writes nothing if the source is malformed', async () => {
  const broken = { deepseek: { models: { ...model('fine'), ...model('broken', { cost: { input: '1' } }) } } }
  for (const source of [broken, { deepseek: {} }, { deepseek: { models: {} } }, '<html>', '[]']) {
    const { code, output, written } = await run(source, 'deepseek')
    assert.is(code, 1, output)
    assert.match(output, /^refused: /)
    assert.is(written, 'before')
  }
  assert.match((await run(broken, 'nobody')).output, 'refused: --only nobody is not in selection.ts')
})
