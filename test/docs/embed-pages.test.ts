import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { assert, suite } from '../support/suite.ts'
import { readPages } from './pages.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const START = 'docs/src/content/docs/start/'

/** The example whose code each page on embedding shows. */
const EXAMPLES: Record<string, string> = {
  'embed-in-bun.md': 'bun',
  'embed-in-deno.md': 'deno',
  'embed-in-express.md': 'express',
  'embed-in-hono.md': 'hono',
  'embed-in-next.md': 'next',
  'embed-in-workers.md': 'cloudflare',
}

const getLines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

function linesBelow(folder: string): string[] {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile())
  return files
    .filter(({ parentPath, name }) => /\.(?:js|mjs|jsonc)$/.test(name) && !parentPath.includes('node_modules'))
    .flatMap(({ parentPath, name }) => getLines(readFileSync(`${parentPath}/${name}`, 'utf8')))
}

const pages = readPages().filter(({ path }) => path.startsWith(`${START}embed-in-`))

const test = suite('pages on embedding')

test('every page on embedding has an example', () => {
  assert.equal(pages.map(({ path }) => path.slice(START.length)).sort(), Object.keys(EXAMPLES).sort())
})

for (const { path, blocks } of pages) {
  test(`every line of code in ${path} is in its example`, () => {
    const known = linesBelow(`${root}examples/${EXAMPLES[path.slice(START.length)]}`)
    const code = blocks.filter(({ language }) => language === 'js' || language === 'jsonc')
    assert.ok(code.length > 0)
    assert.equal(
      code.flatMap((block) => getLines(block.code)).filter((line) => !known.includes(line)),
      [],
    )
  })

  test(`${path} warns about not requiring a key, right below its code`, () => {
    assert.match(
      readFileSync(root + path, 'utf8'),
      /requireApiKey: true[\s\S]*```\n[\s\S]*\*\*Keep the `requireApiKey` line\.\*\*/,
    )
  })
}
