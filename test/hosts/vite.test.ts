import { createServer } from 'node:net'
import { buildApp } from './build.ts'
import { startApp, testHost } from './scenario.ts'

/* Frameworks that build with Vite and include a server. They need Node 22. */

const node = process.execPath
const listen = { HOST: '127.0.0.1', PORT: '0' }
const page = { notFound: /<html/ }

const sveltekit = buildApp('sveltekit', ['vite/bin/vite.js', 'build'])
const astro = buildApp('astro', ['astro/bin/astro.mjs', 'build'])
const reactRouter = buildApp('react-router', ['@react-router/dev/bin.cjs', 'build'])
const tanstack = buildApp('tanstack-start', ['vite/bin/vite.js', 'build'])

testHost(
  'SvelteKit with adapter-node',
  async () => {
    const { folder } = await sveltekit()
    return startApp(node, ['build/index.js'], { folder, env: { ...listen, BODY_SIZE_LIMIT: '20M' } })
  },
  page,
)

testHost(
  'Astro with @astrojs/node',
  async () => {
    const { folder } = await astro()
    return startApp(node, ['dist/server/entry.mjs'], { folder, env: listen })
  },
  page,
)

testHost(
  'React Router with react-router-serve',
  async () => {
    const { folder } = await reactRouter()
    const env = { HOST: '127.0.0.1', PORT: await findFreePort() } // it can't report a port chosen by the system
    return startApp(node, ['../../@react-router/serve/bin.cjs', 'build/server/index.js'], { folder, env })
  },
  page,
)

testHost(
  'TanStack Start with Nitro',
  async () => {
    const { folder } = await tanstack()
    return startApp(node, ['.output/server/index.mjs'], { folder, env: listen })
  },
  page,
)

function findFreePort(): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(String(typeof address === 'object' ? address?.port : undefined)))
    })
  })
}
