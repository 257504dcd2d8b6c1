import { nodes } from '../runtimes/child.ts'
import { startApp, testHost } from './scenario.ts'

const deno = new URL('../runtimes/node_modules/.bin/deno', import.meta.url).pathname
const onDeno = (...app: string[]) => startApp(deno, ['run', '--allow-all', '--no-prompt', ...app])

for (const [version, node] of nodes)
  for (const server of ['@hono/node-server-1.19', '@hono/node-server-2.1.8', '@hono/node-server'])
    testHost(`Hono on ${server} and Node ${version}`, () => startApp(node, ['apps/hono.mjs', server]))
testHost('Hono on @hono/node-server and Deno', () => onDeno('apps/hono.mjs', '@hono/node-server'))
testHost('Hono on Deno.serve', () => onDeno('apps/hono-deno.mjs'), { seesClientsLeave: 'in mid stream' })
