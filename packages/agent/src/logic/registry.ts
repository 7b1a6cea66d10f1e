import type { ContainerExec } from '@sluice/protocol';

export type RegistryAuth = NonNullable<ContainerExec['registryAuth']>;

/**
 * The name and the tag of an image. Without a tag it is `latest`: an engine that is given none
 * pulls them all.
 */
export function imagePlace(image: string): { readonly name: string; readonly tag: string } {
  const digest = image.indexOf('@');
  if (digest >= 0) return { name: image.slice(0, digest), tag: image.slice(digest + 1) };
  const colon = image.lastIndexOf(':');
  // A colon before a slash belongs to the port of the registry.
  if (colon <= image.lastIndexOf('/')) return { name: image, tag: 'latest' };
  return { name: image.slice(0, colon), tag: image.slice(colon + 1) };
}

/** The header with which an engine logs in to a registry. */
export function registryHeader(auth: RegistryAuth): string {
  const { registry } = auth;
  const words = {
    ...('identityToken' in auth
      ? { identitytoken: auth.identityToken }
      : { username: auth.username, password: auth.password }),
    ...(registry === undefined ? {} : { serveraddress: registry }),
  };
  // With its padding: engines ignore a header that they cannot read.
  const base64 = Buffer.from(JSON.stringify(words)).toString('base64');
  return base64.replaceAll('+', '-').replaceAll('/', '_');
}

/** Texts of the credentials that must not be shown. */
export function registrySecrets(auth: RegistryAuth | undefined): string[] {
  if (auth === undefined) return [];
  return ['identityToken' in auth ? auth.identityToken : auth.password];
}
