import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { assert, suite } from '../support/suite.ts'
import { COMMAND_PAGES, isGuide } from './command-pages.ts'
import { type Block, readPages } from './pages.ts'
import { syntaxErrors, typeErrors } from './types.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const blocks = readPages().flatMap((page) => page.blocks)

/** A recipe's blocks are the files of one app. `test/recipes/` compiles them with the app's packages. */
const RECIPES = /^docs\/src\/content\/docs\/guides\/recipes\//

/**
 * Pages whose blocks are run by a test other than commands.test.ts, the languages of those blocks, and that test. A block that doesn't run has a
 * comment `not run: …` in front of it.
 */
const RUNS: [page: RegExp, languages: string[], test: string][] = [
  [/^README\.md$/, ['js', 'sh'], 'test/docs/front-page.test.ts'],
  [/^docs\/src\/content\/docs\/guides\/extend-the-gateway\.md$/, ['js'], 'test/extend/page.test.ts'],
  [/^docs\/src\/content\/docs\/reference\/web-search\.md$/, ['sh'], 'test/kinds/web/page.test.ts'],
  [/^docs\/src\/content\/docs\/reference\/images\.md$/, ['sh'], 'test/kinds/image/page.test.ts'],
  [/^docs\/src\/content\/docs\/start\/other-frameworks\.md$/, ['js'], 'test/hosts/readme.test.ts'],
  [/^docs\/src\/content\/docs\/start\/first-answer\.md$/, ['sh'], 'test/docs/commands.test.ts'],
  [/^docs\/src\/content\/docs\/start\/local-models\.md$/, ['js', 'sh', 'yaml'], 'test/cli/local-recipes.test.ts'],
  [/^docs\/src\/content\/docs\/start\/coding-tools\.md$/, ['json', 'sh', 'toml', 'yaml'], 'test/tools/recipes.test.ts'],
  [/^docs\/src\/content\/docs\/start\/embed-in-[\w-]+\.md$/, ['js', 'sh'], 'test/examples/'],
  [/^examples\/(?:fastify|node)\/README\.md$/, ['sh'], 'test/examples/'],
  [/^examples\/(?:browser|cloud|cloudflare|msw|next|postgres|redis)\/README\.md$/, ['sh'], 'test/examples/'],
  [RECIPES, ['jsonc', 'sh', 'ts'], 'test/recipes/'],
]

const isCommandPage = ({ page, language }: Block) =>
  (page in COMMAND_PAGES || isGuide(page)) && ['json', 'sh', 'yaml'].includes(language)
const isLeftOut = ({ note }: Block) => /^not run: \S/.test(note ?? '')
/** Languages whose blocks don't run, with the parser that checks their contents. */
const READ: Record<string, (text: string) => unknown> = { json: JSON.parse, yaml: parse, text: String }

const test = suite('code blocks in the documentation')

test('every code block is tested, or has a comment that explains why not', () => {
  assert.ok(blocks.length > 70, `only ${blocks.length} blocks were found`)
  const unknown = blocks.filter((block) => {
    const isRun =
      isCommandPage(block) ||
      RUNS.some(([page, languages]) => page.test(block.page) && languages.includes(block.language))
    return !isRun && !isLeftOut(block) && block.language !== 'ts' && !Object.hasOwn(READ, block.language)
  })
  assert.equal(
    unknown.map(({ place, language }) => `${place}: nothing runs this ${language || 'block without a language'}`),
    [],
  )
  for (const [, , path] of RUNS) assert.ok(existsSync(root + path), path)
})

test("every comment in front of a code block explains why the block isn't run", () => {
  const odd = blocks.filter((block) => block.note !== undefined && !isLeftOut(block))
  assert.equal(
    odd.map(({ place, note }) => `${place}: ${note}`),
    [],
  )
})

test('each data block on a page can be parsed', () => {
  const broken = blocks.flatMap(({ place, language, code }) => {
    try {
      READ[language]?.(code)
      return []
    } catch (error) {
      return [`${place}: ${error}`]
    }
  })
  assert.equal(broken, [])
})

test('each JavaScript block can be parsed', () => {
  assert.equal(blocks.filter(({ language }) => language === 'js').flatMap(syntaxErrors), [])
})

test('each TypeScript block compiles in strict mode', async () => {
  const typed = blocks.filter((block) => block.language === 'ts' && !isLeftOut(block) && !RECIPES.test(block.page))
  assert.ok(typed.length > 10, `only ${typed.length} blocks were found`)
  assert.equal(await typeErrors(typed), [])
})
