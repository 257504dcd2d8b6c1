import { Component, type ComponentChildren, type ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useAction, useSignal } from './page-data.ts'
import { formatClockTime } from './page-format.ts'
import { followLive } from './page-live.ts'
import Overview from './pages/overview.tsx'
import { buildLink, route } from './route.ts'
import { access, checkAccess, disconnectedAt, getMessage, hasToken, signIn, signOut } from './session.ts'
import { Button, Problem } from './ui/basics.tsx'
import { Form, TextField } from './ui/forms.tsx'

const titles = {
  '': 'Overview',
  keys: 'Keys',
  accounts: 'Accounts',
  usage: 'Usage',
  requests: 'Requests',
  targets: 'Targets',
  combos: 'Combos',
  models: 'Models',
  guards: 'Guards',
  playground: 'Playground',
  cloud: 'Cloud sync',
  settings: 'Settings',
} as const

type PageName = keyof typeof titles

const loadView = async (name: PageName): Promise<ComponentType> =>
  name === '' ? Overview : (await import('./pages/lazy-pages.ts'))[name]

export function App() {
  const { state } = access.value
  useEffect(() => {
    if (state === 'unknown') void checkAccess()
  }, [state])
  if (access.value.state === 'closed') return <SignIn reason={access.value.reason} />
  if (state === 'unknown') return <p class="loading">Loading…</p>
  return <Frame />
}

function Frame() {
  const { page } = route.value
  const title = isPage(page) ? titles[page] : 'Page not found'
  const headingRef = useRef<HTMLHeadingElement>(null)
  useEffect(followLive, [])
  useEffect(() => {
    document.title = `${title} – Signalbox`
    headingRef.current?.focus()
    document.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [title])
  return (
    <>
      <button type="button" class="skip" onClick={() => headingRef.current?.focus()}>
        Skip to content
      </button>
      <header class="bar">
        <a class="brand" href={buildLink('')}>
          Signalbox
        </a>
        <nav aria-label="Signalbox">
          {Object.entries(titles).map(([name, text]) => (
            <a key={name} href={buildLink(name)} aria-current={name === page ? 'page' : undefined}>
              {text}
            </a>
          ))}
        </nav>
        {hasToken.value && (
          <Button kind="quiet" onClick={() => signOut()}>
            Sign out
          </Button>
        )}
      </header>
      {disconnectedAt.value !== undefined && (
        <p class="lost" role="status">
          The gateway hasn’t responded since {formatClockTime(disconnectedAt.value)}. Retrying…
        </p>
      )}
      <main id="content">
        <h1 ref={headingRef} tabIndex={-1}>
          {title}
        </h1>
        <ErrorBoundary key={page}>
          <LazyView page={page} />
        </ErrorBoundary>
      </main>
    </>
  )
}

const isPage = (name: string): name is PageName => Object.hasOwn(titles, name)

function LazyView({ page }: { page: string }) {
  const view = useSignal<ComponentType | undefined>(undefined)
  const error = useSignal<string | undefined>(undefined)
  const startLoading = () => {
    error.value = undefined
    if (!isPage(page)) return
    loadView(page).then(
      (loadedView) => {
        view.value = loadedView
      },
      (cause: unknown) => {
        error.value = getMessage(cause)
      },
    )
  }
  useEffect(startLoading, [])
  if (!isPage(page)) return <p>Page not found</p>
  if (error.value !== undefined) return <Problem onRetry={startLoading}>{error.value}</Problem>
  const View = view.value
  return View ? <View /> : <p class="loading">Loading…</p>
}

class ErrorBoundary extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  override state: { error?: unknown } = {}
  override componentDidCatch(error: unknown) {
    this.setState({ error })
  }
  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <Problem
        onRetry={() => this.setState({ error: undefined })}
      >{`Something went wrong: ${getMessage(error)}`}</Problem>
    )
  }
}

function SignIn({ reason }: { reason: string }) {
  const token = useSignal('')
  const signInAction = useAction(async () => signIn(token.value.trim()))
  return (
    <main class="sign-in">
      <h1>Sign in</h1>
      <Problem>{reason || undefined}</Problem>
      <Form of={signInAction} submit="Sign in" writes={false}>
        <TextField
          label="Admin token"
          hint="The CLI prints the token the first time it starts. In your own app, it’s the management.token option. The token is kept only in this browser tab."
          type="password"
          autocomplete="current-password"
          required
          of={token}
        />
      </Form>
    </main>
  )
}
