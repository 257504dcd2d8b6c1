import { serves } from './scenario.ts'
import { withCookies } from './sign-in.ts'

/** A project like the ones from SvelteKit's `sv create`. */
const files = {
  'package.json': JSON.stringify({ private: true, type: 'module', scripts: { build: 'vite build' } }),
  'vite.config.js': `
import adapter from '@sveltejs/adapter-node'
import { sveltekit } from '@sveltejs/kit/vite'

export default { plugins: [sveltekit({ adapter: adapter() })] }
`,
  'src/app.html': '<!doctype html><html lang="en"><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>',
}

serves('sveltekit', withCookies, { address: 'localhost:3000', files, isBundled: true })
