import { nodes } from '../runtimes/child.ts'
import { serves, startApp } from './scenario.ts'

const bun = new URL('../runtimes/node_modules/.bin/bun', import.meta.url).pathname

serves('Elysia on Bun', () => startApp(bun, ['apps/elysia.mjs']))
for (const [version, node] of nodes)
  serves(`Elysia on @elysiajs/node and Node ${version}`, () => startApp(node, ['apps/elysia.mjs', '@elysiajs/node']))
