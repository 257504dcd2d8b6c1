import { serves } from './scenario.ts'
import { withCookies } from './sign-in.ts'

/** A project like the ones from `create-start-app`. */
const files = {
  'package.json': JSON.stringify({ private: true, type: 'module', scripts: { build: 'vite build' } }),
  'vite.config.js': `
import { tanstackStart } from '@tanstack/react-start/plugin/vite'
import react from '@vitejs/plugin-react'
import { nitro } from 'nitro/vite'

export default { plugins: [tanstackStart(), nitro(), react()] }
`,
  'src/router.tsx': `
import { createRouter } from '@tanstack/react-router'
import { routeTree } from './routeTree.gen'

export const getRouter = () => createRouter({ routeTree })
`,
  'src/routes/__root.tsx': `
import { createRootRoute, HeadContent, Outlet, Scripts } from '@tanstack/react-router'

export const Route = createRootRoute({
  notFoundComponent: () => <p>the app has no such page</p>,
  component: () => (
    <html lang="en">
      <head><HeadContent /></head>
      <body><Outlet /><Scripts /></body>
    </html>
  ),
})
`,
}

serves('tanstack-start', withCookies, { address: 'localhost:3000', files, isBundled: true })
