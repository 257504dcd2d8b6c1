import { nodes } from '../runtimes/child.ts'
import { serves, startApp } from './scenario.ts'

for (const [version, node] of nodes)
  for (const server of ['@hono/node-server-1.19', '@hono/node-server-2.1.8', '@hono/node-server'])
    serves(`Hono on ${server} and Node ${version}`, () => startApp(node, ['apps/hono.mjs', server]))
