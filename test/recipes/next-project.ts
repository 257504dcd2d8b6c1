import { fileURLToPath } from 'node:url'
import type { AppOptions } from './app.ts'

/** A project like the ones from `create-next-app`. Its types are checked together with those of all recipes. */
export const nextProject: AppOptions = {
  address: 'localhost:3000',
  isBundled: true,
  files: {
    'package.json': JSON.stringify({
      private: true,
      scripts: { build: 'next build', start: 'next start -p 3000' },
    }),
    'next.config.mjs': `export default {
  turbopack: { root: ${JSON.stringify(fileURLToPath(new URL('../..', import.meta.url)))} },
  typescript: { ignoreBuildErrors: true },
}
`,
    'tsconfig.json': JSON.stringify({ compilerOptions: { baseUrl: '.', paths: { '@/*': ['./*'] } } }),
    'app/layout.tsx': 'export default ({ children }) => <html lang="en"><body>{children}</body></html>\n',
    'app/page.tsx': 'export default () => <p>the app</p>\n',
  },
}
