import { nodes } from '../runtimes/child.ts'
import { buildApp } from './build.ts'
import { startApp, testHost } from './scenario.ts'

const next = buildApp('next', ['next/dist/bin/next', 'build'])

for (const [version, node] of nodes)
  testHost(
    `Next on Node ${version}`,
    async () => {
      const { folder, env } = await next()
      return startApp(node, ['../../next/dist/bin/next', 'start', '-H', '127.0.0.1', '-p', '0'], { folder, env })
    },
    { notFound: /<html/ },
  )
