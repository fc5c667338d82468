{{- /* A deployment of one component, "web" or "worker", with its command and probes. */}}
{{- define "cuebase.deployment" }}
{{- $labels := dict "app.kubernetes.io/name" "cuebase" "app.kubernetes.io/instance" .root.Release.Name "app.kubernetes.io/component" .component }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .root.Release.Name }}-{{ .component }}
  labels: {{ toJson $labels }}
spec:
  replicas: {{ (get .root.Values .component).replicas }}
  selector: {matchLabels: {{ toJson $labels }}}
  template:
    metadata:
      labels: {{ toJson $labels }}
      annotations: {settings: {{ .root.Values | toJson | sha256sum | quote }}}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext:
        runAsNonRoot: true
        runAsUser: 10001
        fsGroup: 10001
        seccompProfile: {type: RuntimeDefault}
      containers:
        - name: cuebase
          image: {{ .root.Values.image | quote }}
          command: {{ toJson .command }}
          envFrom:
            - configMapRef: {name: {{ .root.Release.Name }}}
            - secretRef: {name: {{ .root.Values.secret | quote }}}
          ports: [{name: http, containerPort: 8000}]
          startupProbe: {httpGet: {{ toJson .probes.live }}, failureThreshold: 60, periodSeconds: 5}
          livenessProbe: {httpGet: {{ toJson .probes.live }}, timeoutSeconds: 5}
          readinessProbe: {httpGet: {{ toJson .probes.ready }}, timeoutSeconds: 5}
          resources: {{ toJson (get .root.Values .component).resources }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {drop: [ALL]}
          volumeMounts:
            - {name: data, mountPath: /data}
            - {name: tmp, mountPath: /tmp}
      volumes:
        - {name: data, emptyDir: {}}
        - {name: tmp, emptyDir: {}}
{{- end }}
