import { readFile } from 'node:fs/promises'
import { build } from 'esbuild'
import { startServer } from './server.ts'

const at = (path: string) => new URL(`../../../${path}`, import.meta.url).pathname

/** Starts a site with the service worker example, bundled as its README describes, the example's page, and a page with the tests' API clients. */
export async function startSite() {
  const [worker, page] = await Promise.all([
    bundle(at('examples/browser/worker.mjs'), 'iife'),
    bundle(at('test/runtimes/apps/browser-page.mjs'), 'esm'),
  ])
  const [example, exampleScript] = await Promise.all(
    ['index.html', 'page.mjs'].map((name) => readFile(at(`examples/browser/${name}`), 'utf8')),
  )
  const files: Record<string, [type: string, text: string]> = {
    '/': ['text/html', '<!doctype html><title>A page</title><script type="module" src="/page.js"></script>'],
    '/page.js': ['text/javascript', page],
    '/example.html': ['text/html', example ?? ''],
    '/page.mjs': ['text/javascript', exampleScript ?? ''],
    '/worker.js': ['text/javascript', worker],
  }
  const server = await startServer((req, res) => {
    const [type, text] = files[req.url ?? ''] ?? ['text/plain', `${req.method} ${req.url} reached the network`]
    res.setHeader('content-type', `${type}; charset=utf-8`).end(text)
  })
  return { ...server, url: `http://localhost:${server.port}` }
}

/** Bundles an app as one script. */
export async function bundle(path: string, format: 'esm' | 'iife'): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    write: false,
    logLevel: 'error',
    format,
  })
  return outputFiles[0]?.text ?? ''
}
