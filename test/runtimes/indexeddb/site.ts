import { type BuildOptions, build } from 'esbuild'
import type { Page } from 'playwright-core'
import { portableBoom } from '../../../tsup.config.ts'
import { startServer } from '../browser/server.ts'

const at = (path: string) => new URL(`../../${path}`, import.meta.url).pathname

/** Starts a site with a page and a service worker from `apps/`. Requests below `/ai` that reach the network get a 404. */
export async function startSite(pageApp: string, workerApp: string) {
  const [script, worker] = await Promise.all([bundle(pageApp), bundle(workerApp)])
  const files: Record<string, [type: string, text: string]> = {
    '/': ['text/html', '<!doctype html><title>A page</title><script src="/page.js"></script>'],
    '/page.js': ['text/javascript', script],
    '/worker.js': ['text/javascript', worker],
  }
  const server = await startServer((req, res) => {
    const file = files[req.url?.replace(/\?.*/, '') ?? '']
    if (!file) return void res.writeHead(404).end()
    res.setHeader('content-type', `${file[0]}; charset=utf-8`).end(file[1])
  })
  return { ...server, url: `http://localhost:${server.port}/` }
}

/** Runs an action on the page (`globalThis.actions`). */
export const act = <T>(page: Page, name: string, ...args: unknown[]): Promise<T> =>
  page.evaluate(`actions.${name}(...${JSON.stringify(args)})`)

/** Bundles one script, with replacements for the Node and runner modules that the conformance suite imports. */
async function bundle(name: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [at(`runtimes/apps/${name}`)],
    bundle: true,
    write: false,
    format: 'iife',
    logLevel: 'error',
    plugins: [portableBoom, standIns],
  })
  return outputFiles[0]?.text ?? ''
}

const standIns: NonNullable<BuildOptions['plugins']>[number] = {
  name: 'stand-ins',
  setup(build) {
    build.onResolve({ filter: /support\/suite\.ts$/ }, () => ({ path: at('runtimes/indexeddb/suite.ts') }))
    build.onResolve({ filter: /^node:(?:timers\/promises|util)$/ }, () => ({ path: at('runtimes/indexeddb/node.ts') }))
  },
}
