import { nodes } from '../runtimes/child.ts'
import { startApp, testHost } from './scenario.ts'

const bun = new URL('../runtimes/node_modules/.bin/bun', import.meta.url).pathname

testHost('Elysia on Bun', () => startApp(bun, ['apps/elysia.mjs']))
for (const [version, node] of nodes)
  testHost(`Elysia on @elysiajs/node and Node ${version}`, () => startApp(node, ['apps/elysia.mjs', '@elysiajs/node']))
