import { parse } from 'yaml'
import { readPages, SITE } from '../docs/pages.ts'
import { assert } from '../support/suite.ts'
import { importSuite, startImported, writeImported } from './imported.ts'

const test = importSuite('the examples in the migration guides')

const pages = new Map(readPages().map((page) => [page.path, page.blocks]))
const env = { AZURE_EU_KEY: 'k1', OPENAI_API_KEY: 'k2', ANTHROPIC_API_KEY: 'k3', OPENAI_PROD_API_KEY: 'k4' }

for (const [page, action, model] of [
  ['from-litellm', 'litellm', 'gpt-5'],
  ['from-portkey', 'portkey', 'portkey'],
] as const)
  test(`the example file in ${page} matches the import's output, and a gateway starts with it`, async ({ folder }) => {
    const blocks = pages.get(`${SITE}migrate/${page}.md`) ?? []
    const [source, result] = blocks.filter(({ language }) => language === 'yaml' || language === 'json')
    assert.ok(source && result)
    const path = await writeImported(folder, `.${source.language}`, source.code)
    const { file, warnings, chat, down } = await startImported(folder, [action, path], env)
    assert.equal([parse(file), warnings], [parse(result.code), []])
    down.add('gpt-5').add('gpt-5-eu')
    const { status, asked } = await chat(model)
    assert.is(status, 200)
    assert.is(asked.at(-1)?.model, 'claude-sonnet-4-5')
  })
