import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { build, type Plugin } from 'esbuild'

const PAGE = join(import.meta.dirname, 'src/features/dashboard/page')

/** Resolves `signalbox:dashboard` to a module with the dashboard's files as strings, which every runtime can load. */
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

/** The files by path below `/admin/`. */
type Files = Record<string, { type: string; etag: string; text: string }>

/** Builds the dashboard: a document, a style sheet, the main script, and a script for each lazily loaded view. */
export async function pageFiles(): Promise<Files> {
  const { outputFiles, metafile } = await build({
    entryPoints: { app: join(PAGE, 'main.tsx'), style: join(PAGE, 'style.css') },
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    // The classic JSX transform compiles to shorter calls than the automatic one.
    tsconfigRaw: { compilerOptions: { jsx: 'react', jsxFactory: 'h', jsxFragmentFactory: 'Fragment' } },
    inject: [join(PAGE, 'jsx.ts')],
    plugins: [singleMainScript],
    outdir: 'a',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  const files: Files = {}
  for (const { path, text } of outputFiles)
    files[`a/${basename(path)}`] = createFile(path.endsWith('.css') ? 'text/css' : 'text/javascript', text)
  const outputs = Object.entries(metafile.outputs)
  const findOutput = (file: string) => {
    const [path] = outputs.find(([, { inputs }]) => Object.keys(inputs).some((input) => input.endsWith(file))) ?? []
    if (path === undefined) throw new Error(`no output of the dashboard contains ${file}`)
    return `a/${basename(path)}`
  }
  // An entry that only imports another script isn't needed: the document loads that script directly.
  for (const [path, { entryPoint, inputs }] of outputs)
    if (entryPoint && Object.keys(inputs).length === 0) delete files[`a/${basename(path)}`]
  files[''] = createFile('text/html', renderDocument(findOutput('page/main.tsx'), findOutput('page/style.css'), files))
  return files
}

/**
 * esbuild moves code that scripts share into a script of its own. Here the lazy views import the main script, so shared code stays in it, and only one
 * script loads before the first view.
 */
const singleMainScript: Plugin = {
  name: 'single-main-script',
  setup({ onLoad }) {
    onLoad({ filter: /dashboard.page.pages.lazy-pages\.ts$/ }, async ({ path }) => ({
      contents: `${await readFile(path, 'utf8')}\nexport * from '../main.tsx'`,
      loader: 'ts',
    }))
  },
}

function createFile(type: string, text: string): Files[string] {
  return {
    type: `${type}; charset=utf-8`,
    etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`,
    text,
  }
}

const renderDocument = (script: string, style: string, files: Files) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Signalbox</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%23155e75'/%3E%3Ccircle cx='8' cy='5' r='2.4' fill='%23f87171'/%3E%3Ccircle cx='8' cy='11' r='2.4' fill='%234ade80'/%3E%3C/svg%3E">
<link rel="stylesheet" href="${style}" integrity="${hashForIntegrity(files[style]?.text)}">
<script type="module" src="${script}" integrity="${hashForIntegrity(files[script]?.text)}"></script>
</head>
<body>
<div id="app"></div>
<noscript>The dashboard needs JavaScript. Everything it does is also available through the API and the CLI.</noscript>
</body>
</html>
`

const hashForIntegrity = (text = '') => `sha256-${createHash('sha256').update(text).digest('base64')}`
