/** Either the log-in or the pages, depending on whether the server knows the caller. */
import { mayCall } from '@sluice/protocol/roles';
import { QueryClient, QueryClientProvider, useQueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ApiError, listenForRefusedKey } from '../base/api.ts';
import { CallerProvider } from '../base/caller.tsx';
import { live, STILL } from '../base/live.ts';
import { useApi } from '../base/queries.ts';
import { LoginPage } from '../pages/login/login-page.tsx';
import { ErrorNote, Loading } from '../ui/parts.tsx';
import { router } from './router.tsx';

const RETRIES_MAX = 2;

function newClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // A refusal stays one; only silence is worth another try.
        retry: (failures, error) =>
          error instanceof ApiError && error.status === 0 && failures < RETRIES_MAX,
        retryDelay: 500,
        refetchOnWindowFocus: false,
        staleTime: 1000,
      },
    },
  });
}

export function App() {
  const [client] = useState(newClient);
  return (
    <QueryClientProvider client={client}>
      <Gate />
    </QueryClientProvider>
  );
}

function Gate() {
  const client = useQueryClient();
  const [refusal, setRefusal] = useState<string>();
  const caller = useApi('GET /v1/login', {}, { meta: STILL });
  const isKnown = caller.data !== undefined && refusal === undefined;
  useEffect(() => {
    listenForRefusedKey((error) => setRefusal(error.message));
  }, []);
  useEffect(() => {
    if (!isKnown) return;
    live.start(client);
    return () => live.stop();
  }, [isKnown, client]);

  if (refusal !== undefined) {
    const enter = () => {
      client.clear();
      setRefusal(undefined);
    };
    // A person who never logged in needs no explanation of why there is no key.
    const reason = caller.data === undefined ? undefined : refusal;
    return <LoginPage reason={reason} onDone={enter} />;
  }
  if (caller.data === undefined) {
    return (
      <main className="main">
        {caller.error === null ? <Loading /> : <ErrorNote error={caller.error} />}
      </main>
    );
  }
  if (!mayCall(caller.data.roles, 'read')) {
    const reason = `a key with the role ${caller.data.roles.join(', ')} may not read`;
    return <LoginPage reason={reason} onDone={() => client.clear()} />;
  }
  return (
    <CallerProvider value={caller.data}>
      <RouterProvider router={router} />
    </CallerProvider>
  );
}
