import { readFileSync } from 'node:fs'
import { assert, suite } from '../support/suite.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

/** The app for each framework. The keys are also the first words of the code blocks on the page for other frameworks. */
const apps = {
  Next: 'next/app/ai/[...path]/route.js',
  SvelteKit: 'sveltekit/src/routes/ai/[...path]/+server.js',
  Astro: 'astro/src/pages/ai/[...path].js',
  'React Router': 'react-router/app/routes/ai.js',
  'TanStack Start': 'tanstack-start/src/routes/ai/$.js',
  Fastify: 'apps/fastify.mjs',
  Koa: 'apps/koa.mjs',
  'AWS Lambda': 'apps/lambda.mjs',
}

/** Apps that start their server differently from the code block, so only the lines that mount the gateway are compared. */
const mounts = {
  'Hono on Node': ['apps/hono.mjs'],
  'Hono on Deno': ['apps/hono-deno.mjs'],
  'NestJS on Express': ['apps/nest-express.mjs'],
  'h3 1': ['apps/h3-1.mjs', 'apps/h3-2.mjs'],
  Elysia: ['apps/elysia.mjs'],
}

const section = read('../../docs/src/content/docs/start/other-frameworks.md')

/** Returns the lines of code without indentation and comments. */
const getLines = (code: string) =>
  code
    .split('\n')
    .map((line) => line.replace(/(?:^|\s)\/\/ .*$/, '').trim())
    .filter((line) => line !== '')

/** Returns the lines of the code block that starts with this name. */
function getBlock(name: string): string[] {
  const start = section.indexOf(`\`\`\`js\n// ${name}`)
  assert.ok(start >= 0, 'the page has a block')
  const lines = getLines(section.slice(start + 6, section.indexOf('\n```', start)))
  assert.ok(lines.length > 0)
  return lines
}

const test = suite('the web framework code on the page for other frameworks')

for (const [name, app] of Object.entries(apps))
  test(`the page's web framework code matches the tests: ${name}`, () => {
    const lines = getBlock(name)
    const tested = getLines(read(app))
    for (const line of lines) assert.ok(tested.includes(line), `not in ${app}: ${line}`)
  })

for (const [name, paths] of Object.entries(mounts))
  test(`the page's web framework code mounts the gateway like the tests: ${name}`, () => {
    const tested = paths.map(read).join('')
    const lines = getBlock(name).filter((line) => line.includes('gateway'))
    assert.ok(lines.length > 0)
    for (const line of lines) assert.ok(tested.includes(line.replace(/^app/, '')), `not in ${paths}: ${line}`)
  })

test("the page's web framework code has no untested block", () => {
  const titles = [...section.matchAll(/```js\n\/\/ (.*)/g)].map(([, title = '']) => title)
  const known = ['gateway.js', ...Object.keys(apps), ...Object.keys(mounts)]
  assert.equal(
    titles.filter((title) => !known.some((name) => title.startsWith(name))),
    [],
  )
})
