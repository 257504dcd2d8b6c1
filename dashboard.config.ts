import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { build, type Plugin } from 'esbuild'

const PAGE = join(import.meta.dirname, 'src/features/dashboard/page')

/** Resolves `signalbox:dashboard`: the files of the dashboard's page as a module of texts, which every runtime can load. */
export const dashboardAssets: Plugin = {
  name: 'dashboard-assets',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^signalbox:dashboard$/ }, ({ path }) => ({ path, namespace: 'dashboard' }))
    onLoad({ filter: /./, namespace: 'dashboard' }, async () => ({
      contents: `export const files = ${JSON.stringify(await pageFiles())}`,
      watchDirs: [PAGE],
    }))
  },
}

/** A file by its path below `/admin/`. */
type Files = Record<string, { type: string; etag: string; text: string }>

/** Builds the page: one document, one style sheet, the script of the frame, and a script for each part that is loaded late. */
export async function pageFiles(): Promise<Files> {
  const { outputFiles, metafile } = await build({
    entryPoints: { app: join(PAGE, 'main.tsx'), style: join(PAGE, 'style.css') },
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    // Calls with children as arguments are shorter than those of the automatic form.
    tsconfigRaw: { compilerOptions: { jsx: 'react', jsxFactory: 'h', jsxFragmentFactory: 'Fragment' } },
    inject: [join(PAGE, 'jsx.ts')],
    plugins: [oneFirstScript],
    outdir: 'a',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  const files: Files = {}
  for (const { path, text } of outputFiles)
    files[`a/${basename(path)}`] = fileOf(path.endsWith('.css') ? 'text/css' : 'text/javascript', text)
  const outputs = Object.entries(metafile.outputs)
  const nameOf = (file: string) => {
    const [path] = outputs.find(([, { inputs }]) => Object.keys(inputs).some((input) => input.endsWith(file))) ?? []
    if (path === undefined) throw new Error(`no script of the dashboard has ${file}`)
    return `a/${basename(path)}`
  }
  // A script that only imports another one: the document names that one itself.
  for (const [path, { entryPoint, inputs }] of outputs)
    if (entryPoint && Object.keys(inputs).length === 0) delete files[`a/${basename(path)}`]
  files[''] = fileOf('text/html', documentOf(nameOf('page/main.tsx'), nameOf('page/style.css'), files))
  return files
}

/**
 * Scripts that share code get a third one for it. As the late views import the first script here, all of that is shared, and one script is loaded
 * before the first view, not two.
 */
const oneFirstScript: Plugin = {
  name: 'one-first-script',
  setup({ onLoad }) {
    onLoad({ filter: /dashboard.page.pages.lazy-pages\.ts$/ }, async ({ path }) => ({
      contents: `${await readFile(path, 'utf8')}\nexport * from '../main.tsx'`,
      loader: 'ts',
    }))
  },
}

function fileOf(type: string, text: string): Files[string] {
  return {
    type: `${type}; charset=utf-8`,
    etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`,
    text,
  }
}

const documentOf = (script: string, style: string, files: Files) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Signalbox</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%23155e75'/%3E%3Ccircle cx='8' cy='5' r='2.4' fill='%23f87171'/%3E%3Ccircle cx='8' cy='11' r='2.4' fill='%234ade80'/%3E%3C/svg%3E">
<link rel="stylesheet" href="${style}" integrity="${integrityOf(files[style]?.text)}">
<script type="module" src="${script}" integrity="${integrityOf(files[script]?.text)}"></script>
</head>
<body>
<div id="app"></div>
<noscript>The dashboard needs JavaScript. Everything it does is also available through the API and the CLI.</noscript>
</body>
</html>
`

const integrityOf = (text = '') => `sha256-${createHash('sha256').update(text).digest('base64')}`
