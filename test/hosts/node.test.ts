import { nodes } from '../runtimes/child.ts'
import { startApp, testHost } from './scenario.ts'

const hosts = {
  Koa: ['koa'],
  'NestJS on Express': ['nest-express', /Cannot GET/],
  'NestJS on Fastify': ['nest-fastify', /Cannot GET/],
  'h3 1': ['h3-1'],
  'h3 2': ['h3-2'],
} as const

for (const [version, node] of nodes)
  for (const [name, [app, notFound]] of Object.entries(hosts))
    testHost(`${name} and Node ${version}`, () => startApp(node, [`apps/${app}.mjs`]), notFound && { notFound })
