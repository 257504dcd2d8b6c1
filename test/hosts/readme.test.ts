import { readFileSync } from 'node:fs'
import { assert, suite } from '../support/suite.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

/** By how its block in the README begins, the app of a framework. */
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

const [, section = ''] = /### Web frameworks\n(.*?)\n## /s.exec(read('../../README.md')) ?? []

/** The lines of code, without what leads in and comments. */
const linesOf = (code: string) =>
  code
    .split('\n')
    .map((line) => line.replace(/(?:^|\s)\/\/ .*$/, '').trim())
    .filter((line) => line !== '')

const test = suite('the code for web frameworks in the README')

for (const [name, app] of Object.entries(apps))
  test(`the code for web frameworks in the README is that of the tests: ${name}`, () => {
    const start = section.indexOf(`\`\`\`js\n// ${name}`)
    assert.ok(start >= 0, 'the README has a block')
    const lines = linesOf(section.slice(start + 6, section.indexOf('\n```', start)))
    assert.ok(lines.length > 0)
    const tested = linesOf(read(app))
    for (const line of lines) assert.ok(tested.includes(line), `not in ${app}: ${line}`)
  })
